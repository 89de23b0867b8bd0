//! Tests Ruby, PHP, C#, Lua, CSS and HCL.

use super::*;

#[cfg(feature = "grammar-ruby")]
#[test]
fn ruby_methods_are_qualified_by_their_modules_and_classes() {
    let text = format!(
        "# frozen_string_literal: true\nrequire 'set'\n\nmodule Tide\n  # Reads gauges.\n  class Gauge < Base\n    \
        attr_reader :height\n\n    # Reads one.\n    def read(port)\n{}    end\n\n    def self.all\n{}    end\n\n    \
        def empty?; true; end\n  end\nend\n\ndef main\n  puts 1\nend\n",
        filler("      puts 'a statement of some length'\n"),
        filler("      puts 'a statement of some length'\n"),
    );
    let class = "module Tide > class Gauge < Base / Reads gauges.";
    check(
        Language::Ruby,
        &text,
        &[
            "§ - | # frozen_string_literal: true … require 'set'",
            "§ Tide | module Tide",
            "§ Tide::Gauge < module Tide | # Reads gauges. … attr_reader :height",
            &format!("§ Tide::Gauge::read < {class} | # Reads one. … end"),
            &format!("§ Tide::Gauge::all < {class} | def self.all … end"),
            &format!("§ Tide::Gauge::empty? < {class} | def empty?; true; end"),
            "  Tide::Gauge::empty? < module Tide > class Gauge < Base > def empty?; / Reads gauges. | end",
            "  Tide::Gauge::empty? < module Tide > class Gauge < Base > def empty?; / Reads gauges. | end",
            "§ main | def main … end",
        ],
    );
}

#[cfg(feature = "grammar-php")]
#[test]
fn php_is_found_between_html() {
    let text = format!(
        "<?php\n\nnamespace App\\Models;\n\nuse Foo\\Bar;\n\n/**\n * Keeps users.\n */\nfinal class Users extends Base\n{{\n    \
        private int $x = 1;\n\n    /** Finds one. */\n    public function find(int $id): ?User\n    {{\n{}    }}\n\n    public function save()\n    {{\n{}    }}\n\n    \
        abstract protected function all();\n}}\n\nfunction helper() {{ return 1; }}\n?>\n<p>words</p>\n",
        filler("        print('a statement of some length');\n"),
        filler("        print('a statement of some length');\n"),
    );
    check(
        Language::Php,
        &text,
        &[
            "§ - | <?php … use Foo\\Bar;",
            "§ Users | /** … private int $x = 1;",
            "§ Users::find < final class Users extends Base / Keeps users. | /** Finds one. */ … }",
            "§ Users::save < final class Users extends Base / Keeps users. | public function save() … }",
            "§ Users < final class Users extends Base / Keeps users. | abstract protected function all(); … }",
            "§ helper | function helper() { return 1; }",
            "§ - | ?> … <p>words</p>",
        ],
    );
}

#[cfg(feature = "grammar-csharp")]
#[test]
fn csharp_methods_have_their_namespace_and_class() {
    let text = format!(
        "using System;\n\nnamespace Tide.Core\n{{\n    /// <summary>Reads.</summary>\n    [Serializable]\n    \
        public sealed class Gauge<T> : IGauge\n    {{\n        public int X {{ get; set; }}\n\n        \
        public Gauge(int x) => X = x;\n\n        public override string Read(int n)\n        {{\n{}        }}\n    }}\n\n    \
        public enum Kind {{ A, B }}\n}}\n",
        filler("            Console.WriteLine(\"a statement of some length\");\n").repeat(2),
    );
    let class = "namespace Tide.Core > [Serializable] public sealed class Gauge<T> : IGauge";
    let found = outline(&text, Language::CSharp);
    assert_sound(&text, Language::CSharp);
    for expected in [
        "§ - | using System;",
        "§ Tide.Core.Gauge < namespace Tide.Core | /// <summary>",
        &format!("§ Tide.Core.Gauge.Gauge < {class}"),
        &format!("§ Tide.Core.Gauge.Read < {class}"),
        "§ Tide.Core.Kind < namespace Tide.Core | public enum Kind { A, B }",
    ] {
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

#[test]
fn all_forms_of_lua_functions_are_found() {
    let text = "local M = {}\n\n-- Adds.\nfunction M.add(a, b)\n  return a + b\nend\n\nfunction M:size() return 1 end\n\n\
        local function helper(x)\n  return x\nend\n\nM.half = function(x)\n  return x / 2\nend\n\n\
        local twice = function(x) return 2 * x end\n\nlocal limit = 5\nreturn M\n";
    check(
        Language::Lua,
        text,
        &[
            "§ - | local M = {}",
            "§ M.add | -- Adds. … end",
            "§ M:size | function M:size() return 1 end",
            "§ helper | local function helper(x) … end",
            "§ M.half | M.half = function(x) … end",
            "§ twice | local twice = function(x) return 2 * x end",
            "§ - | local limit = 5 … return M",
        ],
    );
}

#[test]
fn a_style_sheet_is_cut_between_rules() {
    let rule = ".button:hover {\n  color: red;\n  background: url('a.png') no-repeat;\n}\n\n";
    let text = format!(
        "/* Buttons. */\n{}@media print {{\n  a {{ color: black; }}\n}}\n",
        rule.repeat(20)
    );
    let document = extract(&text, Language::Css);
    assert_sound(&text, Language::Css);
    assert!(document.blocks.len() > 10);
    for block in &document.blocks[1..] {
        assert!(text[block.bytes.clone()].starts_with(['.', '@']), "{:?}", block.bytes);
    }
}

#[test]
fn blocks_of_terraform_are_named_by_their_labels() {
    let text = "terraform {\n  required_version = \">= 1.5\"\n}\n\n# The server.\nresource \"aws_instance\" \"web\" {\n  ami = \"a\"\n\n  \
        tags = {\n    Name = \"web\"\n  }\n\n  provisioner \"local-exec\" {\n    command = \"x\"\n  }\n}\n\nvariable \"region\" {}\n";
    check(
        Language::Hcl,
        text,
        &[
            "§ terraform | terraform { … }",
            "§ resource.aws_instance.web | # The server. … }",
            "§ variable.region | variable \"region\" {}",
        ],
    );
}

pub(super) const RUBY: &str = "require 'a'\nmodule A\n  class B < C\n    X = %w[a ü]\n    # D\n    def m(y) = <<~T\n      #{y}\n    T\n    \
    def self.n; end\n    class << self\n      def o; end\n    end\n  end\nend\ndescribe 'x' do\n  it { }\nend\n";
pub(super) const PHP: &str = "<p><?php\nnamespace A;\n/** D */\n#[X]\nclass B extends C {\n  use T;\n  function m($ä) { return <<<E\n$ä\nE; }\n}\n\
    enum E: int { case A = 1; }\nfunction f() {} ?>\n</p>\n";
pub(super) const CSHARP: &str = "using A;\nnamespace B;\n/// <summary>D</summary>\n[X]\nclass C<T> : D where T : new() {\n  int P { get; } = 1;\n  \
    ~C() {}\n  void M() => N(\"\"\"\nä\n\"\"\");\n}\nrecord R(int X);\n#if X\nenum E { A }\n#endif\n";
pub(super) const LUA: &str = "local m = { f = function() end }\n--[[ ü\n]]\nfunction m.a:b(...)\n  goto x\n  ::x::\nend\nm.c = function() return [[\nä]] end\n";
pub(super) const CSS: &str = "@charset 'a';\n/* ü */\n@media (x) { a > b::c { d: url(e) !important; } }\n@keyframes k { from { a: 1px } to { } }\n";
pub(super) const HCL: &str = "a \"b\" \"c\" {\n  d = [for x in y : x if z]\n  e {\n    f = <<-E\n    ${ä}\n    E\n  }\n}\nlocals { x = 1 }\n";
