# Alt-K opens `kb find` and puts the chosen path on the command line. Another key: change the last line.
function __kb_find
    set -l place (kb find --print)
    and commandline --insert -- (string escape -- (string replace -r ':[0-9]+$' '' -- $place))
    commandline --function repaint
end
bind \ek __kb_find
