-- What a path led to when the user named it, so that a link put in its place later is not followed.

ALTER TABLE document_paths ADD COLUMN real_path TEXT; -- without links; null: found in a folder, or added by an older kb

ALTER TABLE roots ADD COLUMN real_path TEXT;          -- the same of a folder; null: added by an older kb
