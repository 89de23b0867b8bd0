//! Lists the programming languages: one row for each, with its word and its extensions.

/// Defines the enum from one table of names, words and extensions.
macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $extensions:expr;)*) => {
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

            /// Returns the extensions of its files, in lower case.
            pub fn extensions(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &$extensions,)*
                }
            }
        }
    };
}

languages! {
    /// Python 3.
    Python = "python", ["py", "pyi", "pyw"];
    /// Bash and POSIX shell.
    Bash = "bash", ["sh", "bash", "ksh"];
    /// Go.
    Go = "go", ["go"];
    /// JavaScript, with or without JSX.
    JavaScript = "javascript", ["js", "mjs", "cjs", "jsx"];
    /// TypeScript, with or without TSX.
    TypeScript = "typescript", ["ts", "mts", "cts", "tsx"];
    /// Rust.
    Rust = "rust", ["rs"];
    /// C.
    C = "c", ["c", "h"];
    /// C++.
    Cpp = "cpp", ["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino"];
    /// Java.
    Java = "java", ["java"];
    /// Ruby.
    Ruby = "ruby", ["rb", "rake", "gemspec", "ru", "podspec"];
    /// PHP, with or without HTML around it.
    Php = "php", ["php", "php5", "phtml"];
    /// C#.
    CSharp = "csharp", ["cs", "csx"];
    /// Lua.
    Lua = "lua", ["lua"];
    /// CSS.
    Css = "css", ["css"];
    /// HCL, of Terraform.
    Hcl = "hcl", ["hcl", "tf", "tfvars"];
    /// Ada.
    Ada = "ada", ["ada", "adb", "ads"];
    /// Assembly of any processor.
    Assembly = "assembly", ["asm", "s", "nasm"];
    /// AWK.
    Awk = "awk", ["awk", "gawk"];
    /// Batch files of Windows.
    Batch = "batch", ["bat", "cmd"];
    /// Clojure.
    Clojure = "clojure", ["clj", "cljs", "cljc"];
    /// `CMake`.
    CMake = "cmake", ["cmake"];
    /// COBOL.
    Cobol = "cobol", ["cob", "cbl", "cpy"];
    /// `CoffeeScript`.
    CoffeeScript = "coffeescript", ["coffee"];
    /// Crystal.
    Crystal = "crystal", ["cr"];
    /// CUDA C++.
    Cuda = "cuda", ["cu", "cuh"];
    /// D.
    D = "d", ["d"];
    /// Dart.
    Dart = "dart", ["dart"];
    /// Dockerfiles.
    Dockerfile = "dockerfile", ["dockerfile", "containerfile"];
    /// Elixir.
    Elixir = "elixir", ["ex", "exs"];
    /// Elm.
    Elm = "elm", ["elm"];
    /// Emacs Lisp.
    EmacsLisp = "elisp", ["el"];
    /// Erlang.
    Erlang = "erlang", ["erl", "hrl"];
    /// The fish shell.
    Fish = "fish", ["fish"];
    /// Fortran, in free or fixed form.
    Fortran = "fortran", ["f90", "f95", "f03", "f08", "f", "for", "f77"];
    /// F#.
    FSharp = "fsharp", ["fs", "fsx", "fsi"];
    /// `GDScript`.
    GdScript = "gdscript", ["gd"];
    /// GLSL.
    Glsl = "glsl", ["glsl", "vert", "frag"];
    /// `GraphQL`.
    GraphQl = "graphql", ["graphql", "gql"];
    /// Groovy, also of Gradle and Jenkins.
    Groovy = "groovy", ["groovy", "gradle"];
    /// Haskell.
    Haskell = "haskell", ["hs"];
    /// HLSL.
    Hlsl = "hlsl", ["hlsl"];
    /// Julia.
    Julia = "julia", ["jl"];
    /// Kotlin.
    Kotlin = "kotlin", ["kt", "kts"];
    /// Less.
    Less = "less", ["less"];
    /// Common Lisp.
    Lisp = "lisp", ["lisp", "lsp"];
    /// Makefiles.
    Make = "make", ["mk", "mak"];
    /// MATLAB and Octave.
    Matlab = "matlab", ["m"];
    /// Nim.
    Nim = "nim", ["nim", "nims"];
    /// Nix.
    Nix = "nix", ["nix"];
    /// Objective-C and Objective-C++.
    ObjectiveC = "objectivec", ["mm"];
    /// `OCaml`.
    OCaml = "ocaml", ["ml", "mli"];
    /// Pascal and Delphi.
    Pascal = "pascal", ["pas", "dpr", "lpr"];
    /// Perl.
    Perl = "perl", ["pl", "pm", "perl"];
    /// `PowerShell`.
    PowerShell = "powershell", ["ps1", "psm1", "psd1"];
    /// Prolog.
    Prolog = "prolog", ["prolog"];
    /// Protocol Buffers.
    Protobuf = "protobuf", ["proto"];
    /// R.
    R = "r", ["r"];
    /// Racket.
    Racket = "racket", ["rkt"];
    /// Sass with indentation.
    Sass = "sass", ["sass"];
    /// Scala.
    Scala = "scala", ["scala", "sc", "sbt"];
    /// Scheme.
    Scheme = "scheme", ["scm", "ss"];
    /// SCSS.
    Scss = "scss", ["scss"];
    /// sed.
    Sed = "sed", ["sed"];
    /// Solidity.
    Solidity = "solidity", ["sol"];
    /// SQL.
    Sql = "sql", ["sql", "ddl"];
    /// Starlark, of Bazel and Buck.
    Starlark = "starlark", ["bzl", "star"];
    /// Svelte.
    Svelte = "svelte", ["svelte"];
    /// Swift.
    Swift = "swift", ["swift"];
    /// Verilog and `SystemVerilog`.
    SystemVerilog = "systemverilog", ["v", "sv", "svh", "vh"];
    /// Tcl.
    Tcl = "tcl", ["tcl"];
    /// Thrift.
    Thrift = "thrift", ["thrift"];
    /// VHDL.
    Vhdl = "vhdl", ["vhd", "vhdl"];
    /// Vim script.
    Vim = "vim", ["vim"];
    /// Visual Basic and `VBScript`.
    VisualBasic = "visualbasic", ["vb", "vbs", "bas"];
    /// Vue.
    Vue = "vue", ["vue"];
    /// WGSL.
    Wgsl = "wgsl", ["wgsl"];
    /// Zig.
    Zig = "zig", ["zig"];
    /// Zsh.
    Zsh = "zsh", ["zsh"];
}
