//! Lists the programming languages, with their words.

/// Defines the enum from one table of names and words.
macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// A programming language. The reader of code has a grammar for some of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Language {
            $($(#[$doc])* $name,)*
        }

        impl Language {
            /// All languages: those with a grammar first, then the others, alphabetical.
            pub const ALL: [Self; [$($word,)*].len()] = [$(Self::$name,)*];

            /// Returns the word used in the database, in JSON and on the command line.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

languages! {
    /// Python 3.
    Python = "python",
    /// Bash and POSIX shell.
    Bash = "bash",
    /// Go.
    Go = "go",
    /// JavaScript, with or without JSX.
    JavaScript = "javascript",
    /// TypeScript, with or without TSX.
    TypeScript = "typescript",
    /// Rust.
    Rust = "rust",
    /// C.
    C = "c",
    /// C++.
    Cpp = "cpp",
    /// Java.
    Java = "java",
    /// Ruby.
    Ruby = "ruby",
    /// PHP, with or without HTML around it.
    Php = "php",
    /// C#.
    CSharp = "csharp",
    /// Lua.
    Lua = "lua",
    /// CSS.
    Css = "css",
    /// HCL, of Terraform.
    Hcl = "hcl",
    /// Ada.
    Ada = "ada",
    /// Assembly of any processor.
    Assembly = "assembly",
    /// AWK.
    Awk = "awk",
    /// Batch files of Windows.
    Batch = "batch",
    /// Clojure.
    Clojure = "clojure",
    /// `CMake`.
    CMake = "cmake",
    /// COBOL.
    Cobol = "cobol",
    /// `CoffeeScript`.
    CoffeeScript = "coffeescript",
    /// Crystal.
    Crystal = "crystal",
    /// CUDA C++.
    Cuda = "cuda",
    /// D.
    D = "d",
    /// Dart.
    Dart = "dart",
    /// Dockerfiles.
    Dockerfile = "dockerfile",
    /// Elixir.
    Elixir = "elixir",
    /// Elm.
    Elm = "elm",
    /// Emacs Lisp.
    EmacsLisp = "elisp",
    /// Erlang.
    Erlang = "erlang",
    /// The fish shell.
    Fish = "fish",
    /// Fortran, in free or fixed form.
    Fortran = "fortran",
    /// F#.
    FSharp = "fsharp",
    /// `GDScript`.
    GdScript = "gdscript",
    /// GLSL.
    Glsl = "glsl",
    /// `GraphQL`.
    GraphQl = "graphql",
    /// Groovy, also of Gradle and Jenkins.
    Groovy = "groovy",
    /// Haskell.
    Haskell = "haskell",
    /// HLSL.
    Hlsl = "hlsl",
    /// Julia.
    Julia = "julia",
    /// Kotlin.
    Kotlin = "kotlin",
    /// Less.
    Less = "less",
    /// Common Lisp.
    Lisp = "lisp",
    /// Makefiles.
    Make = "make",
    /// MATLAB and Octave.
    Matlab = "matlab",
    /// Nim.
    Nim = "nim",
    /// Nix.
    Nix = "nix",
    /// Objective-C and Objective-C++.
    ObjectiveC = "objectivec",
    /// `OCaml`.
    OCaml = "ocaml",
    /// Pascal and Delphi.
    Pascal = "pascal",
    /// Perl.
    Perl = "perl",
    /// `PowerShell`.
    PowerShell = "powershell",
    /// Prolog.
    Prolog = "prolog",
    /// Protocol Buffers.
    Protobuf = "protobuf",
    /// R.
    R = "r",
    /// Racket.
    Racket = "racket",
    /// Sass with indentation.
    Sass = "sass",
    /// Scala.
    Scala = "scala",
    /// Scheme.
    Scheme = "scheme",
    /// SCSS.
    Scss = "scss",
    /// sed.
    Sed = "sed",
    /// Solidity.
    Solidity = "solidity",
    /// SQL.
    Sql = "sql",
    /// Starlark, of Bazel and Buck.
    Starlark = "starlark",
    /// Svelte.
    Svelte = "svelte",
    /// Swift.
    Swift = "swift",
    /// Verilog and `SystemVerilog`.
    SystemVerilog = "systemverilog",
    /// Tcl.
    Tcl = "tcl",
    /// Thrift.
    Thrift = "thrift",
    /// VHDL.
    Vhdl = "vhdl",
    /// Vim script.
    Vim = "vim",
    /// Visual Basic and `VBScript`.
    VisualBasic = "visualbasic",
    /// Vue.
    Vue = "vue",
    /// WGSL.
    Wgsl = "wgsl",
    /// Zig.
    Zig = "zig",
    /// Zsh.
    Zsh = "zsh",
}
