-- The skill registry: what `kb skill list` found at its last pass, and what a server answers from.
-- The SKILL.md files are the truth; the table is filled by the loader, never by a migration.

CREATE TABLE skills (
    name             TEXT PRIMARY KEY NOT NULL,
    description      TEXT NOT NULL,
    version          TEXT,                         -- as written; not parsed
    entrypoint       TEXT,
    capabilities     TEXT NOT NULL DEFAULT '[]',   -- JSON array of words
    greek_letter     TEXT,
    body             TEXT NOT NULL,                -- SKILL.md without its front matter
    source_path      TEXT NOT NULL,                -- of SKILL.md, from the project, with /
    frontmatter_json TEXT NOT NULL,                -- every key, unknown ones too
    loaded_at        TEXT NOT NULL                 -- RFC 3339, UTC; when this content was first seen
) STRICT;

CREATE INDEX idx_skills_greek ON skills (greek_letter);
