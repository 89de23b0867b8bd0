//! Lists settings of each program, in the form that its documentation shows.

/// The name of each program, and its settings with kb in them.
pub(super) const DOCUMENTED: [(&str, &str); 13] = [
    (
        "claude-code",
        r#"{
  "numStartups": 4,
  "mcpServers": {
    "shared": {
      "type": "stdio",
      "command": "/path/to/server",
      "args": [],
      "env": {}
    },
    "kb": {
      "type": "stdio",
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  },
  "projects": {}
}
"#,
    ),
    (
        "claude-desktop",
        r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/username/Desktop"]
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "cline",
        r#"{
  "mcpServers": {
    "local-server": {
      "command": "node",
      "args": ["/path/to/server.js"],
      "env": { "API_KEY": "your_api_key" },
      "alwaysAllow": ["tool1", "tool2"],
      "disabled": false
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "codex",
        r#"# comments stay
model = "gpt-5"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]

[mcp_servers.kb]
command = "/opt/kb"
args = ["mcp"]
"#,
    ),
    (
        "copilot",
        r#"{
  "mcpServers": {
    "playwright": {
      "type": "local",
      "command": "npx",
      "args": ["@playwright/mcp@latest"],
      "tools": ["*"]
    },
    "kb": {
      "type": "local",
      "command": "/opt/kb",
      "args": ["mcp"],
      "tools": ["*"]
    }
  }
}
"#,
    ),
    (
        "cursor",
        r#"{
  "mcpServers": {
    "server-name": {
      "type": "stdio",
      "command": "python",
      "args": ["mcp-server.py"],
      "env": { "API_KEY": "value" }
    },
    "kb": {
      "type": "stdio",
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "gemini",
        r#"{
  "ui": { "theme": "GitHub" }, // mine
  "mcpServers": {
    "pythonTools": {
      "command": "python",
      "args": ["-m", "my_mcp_server"],
      "timeout": 15000
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "goose",
        r"GOOSE_PROVIDER: anthropic # mine
extensions:
  github:
    name: GitHub
    cmd: npx
    args: [-y, '@modelcontextprotocol/server-github']
    enabled: true
    envs: { GITHUB_PERSONAL_ACCESS_TOKEN: '<YOUR_TOKEN>' }
    type: stdio
    timeout: 300
  kb:
    type: stdio
    name: kb
    cmd: /opt/kb
    args:
    - mcp
    enabled: true
    timeout: 300
",
    ),
    (
        "lm-studio",
        r#"{
  "mcpServers": {
    "hf-mcp-server": {
      "url": "https://huggingface.co/mcp",
      "headers": { "Authorization": "Bearer <YOUR_HF_TOKEN>" }
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "opencode",
        r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // tried in May
    "everything": {
      "type": "local",
      "command": ["npx", "-y", "@modelcontextprotocol/server-everything"],
      "enabled": false,
    },
    "kb": {
      "type": "local",
      "command": ["/opt/kb", "mcp"],
      "enabled": true,
    },
  },
}
"#,
    ),
    (
        "vscode",
        r#"{
	"inputs": [],
	"servers": {
		// from the gallery
		"memory": {
			"type": "stdio",
			"command": "npx",
			"args": ["-y", "@modelcontextprotocol/server-memory"]
		},
		"kb": {
			"type": "stdio",
			"command": "/opt/kb",
			"args": ["mcp"]
		}
	}
}
"#,
    ),
    (
        "windsurf",
        r#"{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"]
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  }
}
"#,
    ),
    (
        "zed",
        r#"// Zed settings
{
  "theme": "One Dark", /* dark */
  "context_servers": {
    "local": {
      "command": "some-command",
      "args": ["arg-1", "arg-2"],
      "env": {}
    },
    "kb": {
      "command": "/opt/kb",
      "args": ["mcp"]
    }
  },
  "vim_mode": true,
}
"#,
    ),
];
