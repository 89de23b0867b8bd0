//! Defines the commands from one table: how clap learns of them, by name first and of the arguments of the one that is used,
//! and what runs each.

/// Returns the output format that arguments request: that of `--format`, unless the row has a function.
macro_rules! requested {
    ($args:ident) => {
        Some($args.format.format)
    };
    ($args:ident, $type:ty, $format:expr) => {{
        let requested: fn(&$type) -> Option<OutputFormat> = $format;
        requested($args)
    }};
}

/// Runs a command by the function of its row.
macro_rules! ran {
    ($context:ident, $args:ident, $run:path) => {
        $run($context, $args)
    };
    ($context:ident, $args:ident) => {
        unreachable!("{:?} runs without a context", $args)
    };
}

/// Defines `Command` from a table of groups, with a row for each command: the line of its help, its name, its
/// arguments, the function that runs it in a context, and what returns the output format that the arguments request if
/// they have no usual `--format`.
///
/// clap's derive would build the arguments of all commands at every start, which takes longer than to parse
/// them. Here those of a command are built when it is used, or when `clap::Command::build` is called.
macro_rules! commands {
    ($($group:literal { $(#[doc = $about:literal] $name:ident($args:ty $(=> $run:path)? $(, $format:expr)?),)+ })+) => {
        /// A command.
        #[derive(Debug)]
        pub(super) enum Command {
            $($(#[doc = $about] $name($args),)+)+
        }

        impl Command {
            /// The titles of the groups in the order of the commands, and how many commands each has.
            pub(crate) const GROUPS: &[(&str, usize)] =
                &[$(($group, [$(stringify!($name)),+].len())),+];

            /// Returns the requested output format; `None` if a setting decides.
            pub(crate) fn wanted_format(&self) -> Option<OutputFormat> {
                match self {
                    $($(Self::$name(args) => requested!(args $(, $args, $format)?),)+)+
                }
            }

            /// Runs the command.
            pub(super) fn run(
                &self,
                context: &CommandContext,
            ) -> crate::error::Result<ExitStatus> {
                match self {
                    $($(Self::$name(args) => ran!(context, args $(, $run)?),)+)+
                }
            }
        }

        impl clap::FromArgMatches for Command {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                Self::from_arg_matches_mut(&mut matches.clone())
            }

            fn from_arg_matches_mut(matches: &mut clap::ArgMatches) -> Result<Self, clap::Error> {
                if let Some((name, mut matches)) = matches.remove_subcommand() {
                    $($(if name.eq_ignore_ascii_case(stringify!($name)) {
                        let args = <$args as clap::FromArgMatches>::from_arg_matches_mut(&mut matches);
                        return args.map(Self::$name);
                    })+)+
                }
                Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Subcommand for Command {
            fn augment_subcommands(command: clap::Command) -> clap::Command {
                command.subcommands([$($(
                    clap::Command::new(stringify!($name).to_ascii_lowercase())
                        .about($about.trim_ascii())
                        // The struct of the arguments may have another help text, which would replace this one.
                        .defer(|command| {
                            <$args as Args>::augment_args(command)
                                .about($about.trim_ascii())
                                .long_about(None)
                        }),
                )+)+])
            }

            fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
                Self::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($(stringify!($name)),+),+].iter().any(|known| known.eq_ignore_ascii_case(name))
            }
        }
    };
}
