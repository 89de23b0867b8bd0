//! Writes rows in the binary format of PostgreSQL's COPY. Pure.

/// The object identifier of `text`, which never changes.
const TEXT: i32 = 25;

/// Rows for `COPY … FROM STDIN BINARY`.
pub(super) struct CopyRows(Vec<u8>);

impl CopyRows {
    pub(super) fn new() -> Self {
        // The header of the binary format of COPY: its signature, no flags, and no extension.
        Self(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec())
    }

    /// Begins a row of `num_fields` fields, which must follow.
    pub(super) fn row(&mut self, num_fields: i16) -> &mut Self {
        self.0.extend(num_fields.to_be_bytes());
        self
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(len(bytes.len()).to_be_bytes());
        self.0.extend(bytes);
        self
    }

    pub(super) fn smallint(&mut self, number: i16) -> &mut Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn integer(&mut self, number: u32) -> &mut Self {
        self.bytes(&i32::try_from(number).unwrap_or(i32::MAX).to_be_bytes())
    }

    pub(super) fn bigint(&mut self, number: i64) -> &mut Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Writes a text; PostgreSQL has no NUL in texts.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        if text.contains('\0') {
            self.bytes(text.replace('\0', "\u{fffd}").as_bytes())
        } else {
            self.bytes(text.as_bytes())
        }
    }

    /// Writes JSON as `jsonb`.
    pub(super) fn json(&mut self, json: &str) -> &mut Self {
        // The binary form of `jsonb` begins with its version. It has no NUL, so that becomes U+FFFD.
        let text = json.replace("\\u0000", "\\ufffd");
        self.bytes(&[&[1], text.as_bytes()].concat())
    }

    /// Writes what `write` writes, or null.
    pub(super) fn optional<T>(
        &mut self,
        value: Option<T>,
        write: impl FnOnce(&mut Self, T) -> &mut Self,
    ) -> &mut Self {
        match value {
            Some(value) => write(self, value),
            None => {
                self.0.extend((-1_i32).to_be_bytes());
                self
            }
        }
    }

    pub(super) fn texts(&mut self, texts: &[String]) -> &mut Self {
        let mut array = Self(Vec::new());
        let num_dimensions = i32::from(!texts.is_empty());
        for number in [num_dimensions, 0, TEXT] {
            array.0.extend(number.to_be_bytes());
        }
        if !texts.is_empty() {
            // A dimension is its length and the index of its first element.
            array.0.extend(len(texts.len()).to_be_bytes());
            array.0.extend(1_i32.to_be_bytes());
            for text in texts {
                array.text(text);
            }
        }
        self.bytes(&array.0)
    }

    /// Writes a vector of pgvector: its length, an unused number, and its numbers.
    pub(super) fn vector(&mut self, vector: &[f32]) -> &mut Self {
        let mut bytes = u16::try_from(vector.len()).unwrap_or(u16::MAX).to_be_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(vector.iter().flat_map(|number| number.to_be_bytes()));
        self.bytes(&bytes)
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.extend((-1_i16).to_be_bytes());
        self.0
    }
}

/// Lengths of texts and lists of a document are far below the limit.
fn len(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}
