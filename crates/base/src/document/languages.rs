//! Lists the programming languages: one row for each, with its word, its extensions and what it is.

use crate::text::fields;

/// Defines the enum from one table of names, words, extensions and descriptions: languages with a grammar first, then
/// the others, alphabetical.
macro_rules! languages {
    ($($name:ident = $word:literal, $extensions:expr, $doc:literal;)*) => {
        fields::words! {
            /// A programming language. The reader of code has a grammar for some of them.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum Language {
                $(#[doc = $doc] $name = $word,)*
            }
        }

        impl Language {
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
    Python = "python", ["py", "pyi", "pyw"], "Python 3.";
    Bash = "bash", ["sh", "bash", "ksh"], "Bash and POSIX shell.";
    Go = "go", ["go"], "Go.";
    JavaScript = "javascript", ["js", "mjs", "cjs", "jsx"], "JavaScript, with or without JSX.";
    TypeScript = "typescript", ["ts", "mts", "cts", "tsx"], "TypeScript, with or without TSX.";
    Rust = "rust", ["rs"], "Rust.";
    C = "c", ["c", "h"], "C.";
    Cpp = "cpp", ["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino"], "C++.";
    Java = "java", ["java"], "Java.";
    Ruby = "ruby", ["rb", "rake", "gemspec", "ru", "podspec"], "Ruby.";
    Php = "php", ["php", "php5", "phtml"], "PHP, with or without HTML around it.";
    CSharp = "csharp", ["cs", "csx"], "C#.";
    Lua = "lua", ["lua"], "Lua.";
    Css = "css", ["css"], "CSS.";
    Hcl = "hcl", ["hcl", "tf", "tfvars"], "HCL, of Terraform.";
    Ada = "ada", ["ada", "adb", "ads"], "Ada.";
    Assembly = "assembly", ["asm", "s", "nasm"], "Assembly of any processor.";
    Awk = "awk", ["awk", "gawk"], "AWK.";
    Batch = "batch", ["bat", "cmd"], "Batch files of Windows.";
    Clojure = "clojure", ["clj", "cljs", "cljc"], "Clojure.";
    CMake = "cmake", ["cmake"], "`CMake`.";
    Cobol = "cobol", ["cob", "cbl", "cpy"], "COBOL.";
    CoffeeScript = "coffeescript", ["coffee"], "`CoffeeScript`.";
    Crystal = "crystal", ["cr"], "Crystal.";
    Cuda = "cuda", ["cu", "cuh"], "CUDA C++.";
    D = "d", ["d"], "D.";
    Dart = "dart", ["dart"], "Dart.";
    Dockerfile = "dockerfile", ["dockerfile", "containerfile"], "Dockerfiles.";
    Elixir = "elixir", ["ex", "exs"], "Elixir.";
    Elm = "elm", ["elm"], "Elm.";
    EmacsLisp = "elisp", ["el"], "Emacs Lisp.";
    Erlang = "erlang", ["erl", "hrl"], "Erlang.";
    Fish = "fish", ["fish"], "The fish shell.";
    Fortran = "fortran", ["f90", "f95", "f03", "f08", "f", "for", "f77"], "Fortran, in free or fixed form.";
    FSharp = "fsharp", ["fs", "fsx", "fsi"], "F#.";
    GdScript = "gdscript", ["gd"], "`GDScript`.";
    Glsl = "glsl", ["glsl", "vert", "frag"], "GLSL.";
    GraphQl = "graphql", ["graphql", "gql"], "`GraphQL`.";
    Groovy = "groovy", ["groovy", "gradle"], "Groovy, also of Gradle and Jenkins.";
    Haskell = "haskell", ["hs"], "Haskell.";
    Hlsl = "hlsl", ["hlsl"], "HLSL.";
    Julia = "julia", ["jl"], "Julia.";
    Kotlin = "kotlin", ["kt", "kts"], "Kotlin.";
    Less = "less", ["less"], "Less.";
    Lisp = "lisp", ["lisp", "lsp"], "Common Lisp.";
    Make = "make", ["mk", "mak"], "Makefiles.";
    Matlab = "matlab", ["m"], "MATLAB and Octave.";
    Nim = "nim", ["nim", "nims"], "Nim.";
    Nix = "nix", ["nix"], "Nix.";
    ObjectiveC = "objectivec", ["mm"], "Objective-C and Objective-C++.";
    OCaml = "ocaml", ["ml", "mli"], "`OCaml`.";
    Pascal = "pascal", ["pas", "dpr", "lpr"], "Pascal and Delphi.";
    Perl = "perl", ["pl", "pm", "perl"], "Perl.";
    PowerShell = "powershell", ["ps1", "psm1", "psd1"], "`PowerShell`.";
    Prolog = "prolog", ["prolog"], "Prolog.";
    Protobuf = "protobuf", ["proto"], "Protocol Buffers.";
    R = "r", ["r"], "R.";
    Racket = "racket", ["rkt"], "Racket.";
    Sass = "sass", ["sass"], "Sass with indentation.";
    Scala = "scala", ["scala", "sc", "sbt"], "Scala.";
    Scheme = "scheme", ["scm", "ss"], "Scheme.";
    Scss = "scss", ["scss"], "SCSS.";
    Sed = "sed", ["sed"], "sed.";
    Solidity = "solidity", ["sol"], "Solidity.";
    Sql = "sql", ["sql", "ddl"], "SQL.";
    Starlark = "starlark", ["bzl", "star"], "Starlark, of Bazel and Buck.";
    Svelte = "svelte", ["svelte"], "Svelte.";
    Swift = "swift", ["swift"], "Swift.";
    SystemVerilog = "systemverilog", ["v", "sv", "svh", "vh"], "Verilog and `SystemVerilog`.";
    Tcl = "tcl", ["tcl"], "Tcl.";
    Thrift = "thrift", ["thrift"], "Thrift.";
    Vhdl = "vhdl", ["vhd", "vhdl"], "VHDL.";
    Vim = "vim", ["vim"], "Vim script.";
    VisualBasic = "visualbasic", ["vb", "vbs", "bas"], "Visual Basic and `VBScript`.";
    Vue = "vue", ["vue"], "Vue.";
    Wgsl = "wgsl", ["wgsl"], "WGSL.";
    Zig = "zig", ["zig"], "Zig.";
    Zsh = "zsh", ["zsh"], "Zsh.";
}
