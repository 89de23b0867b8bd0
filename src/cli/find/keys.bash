# Alt-K opens `kb find` and puts the chosen path on the command line. Another key: change the last line.
__kb_find() {
  local place
  place=$(kb find --print) || return
  [[ $place =~ ^(.*):[0-9]+$ ]] && place=${BASH_REMATCH[1]}
  printf -v place %q "$place"
  READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$place${READLINE_LINE:READLINE_POINT}
  READLINE_POINT=$((READLINE_POINT + ${#place}))
}
bind -x '"\ek": __kb_find'
