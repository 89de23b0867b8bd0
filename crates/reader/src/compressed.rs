//! Unpacks single files that were compressed with gzip, xz, bzip2 or Zstandard.

use std::io::{self, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::members::Members;
use super::{EarlyEnd, Emit, ReaderInput};
use crate::extract::protocol::ReadingSummary;

/// The name of the content of a compressed file.
const CONTENT: &str = "content";

/// Size of the head of a frame that is skipped (RFC 8878, 3.1.2).
const SKIPPED_HEAD: usize = 8;

/// Emits what a compressed file contains, by its first bytes.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut members = Members::new(emit);
    match input.bytes {
        [0x1F, 0x8B, ..] => members.add_from(CONTENT, MultiGzDecoder::new(input.bytes))?,
        [0xFD, ..] => members.add_from(CONTENT, XzStreams::new(input.bytes))?,
        [b'B', ..] => members.add_from(CONTENT, MultiBzDecoder::new(input.bytes))?,
        _ => members.add_from(CONTENT, Frames::new(input.bytes))?,
    }
    Ok(ReadingSummary::default())
}

/// Reads the streams of xz data one after another. The crate could do that, but it calls itself for each
/// stream that is empty, until the stack overflows.
struct XzStreams<'a> {
    /// The streams after the open one.
    rest: &'a [u8],
    open: Option<XzReader<&'a [u8]>>,
}

impl<'a> XzStreams<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, open: None }
    }

    /// Skips the padding after a stream, which is a multiple of four bytes (the .xz file format, 2.2).
    fn skip_padding(&mut self) -> io::Result<()> {
        const MULTIPLE: usize = 4;
        let num_zeros = self.rest.iter().take_while(|byte| **byte == 0).count();
        self.rest = &self.rest[num_zeros..];
        if !self.rest.is_empty() && !num_zeros.is_multiple_of(MULTIPLE) {
            return Err(io::Error::other("the padding between its streams is wrong"));
        }
        Ok(())
    }
}

impl Read for XzStreams<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.open.is_some() || !self.rest.is_empty() {
            let stream = self.open.get_or_insert_with(|| XzReader::new(self.rest, false));
            match stream.read(buffer)? {
                0 => {}
                len => return Ok(len),
            }
            let Some(ended) = self.open.take() else { break };
            self.rest = ended.into_inner();
            self.skip_padding()?;
        }
        Ok(0)
    }
}

/// Reads the frames of Zstandard data one after another: the crate reads one.
struct Frames<'a> {
    /// The frames after the open one.
    rest: &'a [u8],
    open: Option<StreamingDecoder<&'a [u8], FrameDecoder>>,
}

impl<'a> Frames<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, open: None }
    }

    fn next(&mut self) -> io::Result<()> {
        use FrameDecoderError::ReadFrameHeaderError as Head;
        match StreamingDecoder::new(self.rest) {
            Ok(decoder) => self.open = Some(decoder),
            Err(Head(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let end = length.saturating_add(SKIPPED_HEAD);
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            Err(error) => return Err(io::Error::other(error.to_string())),
        }
        Ok(())
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.open {
                Some(decoder) => match decoder.read(buffer)? {
                    0 => {}
                    len => return Ok(len),
                },
                None if self.rest.is_empty() => return Ok(0),
                None => {
                    self.next()?;
                    continue;
                }
            }
            let Some(ended) = self.open.take() else { return Ok(0) };
            let (rest, decoder) = ended.into_parts();
            self.rest = rest;
            let stated = decoder.get_checksum_from_data();
            if stated.is_some() && stated != decoder.get_calculated_checksum() {
                return Err(io::Error::other("its checksum is wrong"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::error::FailureKind;
    use crate::limits;
    use crate::members::tests::members;

    /// A frame of one block without compression: magic, a content size of one byte, the block.
    fn frame(text: &str) -> Vec<u8> {
        let len = u8::try_from(text.len()).unwrap();
        let mut frame = b"\x28\xB5\x2F\xFD\x20".to_vec();
        frame.extend([len, len << 3 | 1, 0, 0]);
        frame.extend(text.as_bytes());
        frame
    }

    fn unpacked(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Frames::new(bytes).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn all_frames_are_read_and_others_are_skipped() {
        let skipped = b"\x50\x2A\x4D\x18\x03\0\0\0abc";
        let data = [&frame("low "), &skipped[..], &frame("water")].concat();
        assert_eq!(unpacked(&data).unwrap(), "low water");
        assert_eq!(
            unpacked(&skipped[..4]).map_err(|error| error.kind()),
            Err(io::ErrorKind::Other)
        );
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut data = frame("tide");
        data[4] |= 4;
        data.extend([0; 4]);
        assert_eq!(unpacked(&data).unwrap_err().to_string(), "its checksum is wrong");
    }

    #[test]
    fn compressed_files_are_unpacked() {
        let expected = [("content".to_owned(), "low water\n".to_owned())];
        for packed in [
            "H4sIAAAAAAAAA8vJL1coTyxJLeICAAbMSycKAAAA",
            "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAJbG93IHdhdGVyCgAAAIw+Gv0G+mBIAAEiChUa4WcftvN9AQAAAAAEWVo=",
            "QlpoOTFBWSZTWZxj/9EAAAJRgAAQQAAiBJSAIAAxBkxBANNqcQY2w8XckU4UJCcY//RA",
            "KLUv/QRYUQAAbG93IHdhdGVyCm4RdzA=",
        ] {
            let packed = BASE64_STANDARD.decode(packed).unwrap();
            assert_eq!(members(read, &packed).unwrap(), expected);
            let cut = members(read, &packed[..packed.len() - 6]).unwrap();
            assert_eq!(cut[0].1, "damaged");
        }
    }

    #[test]
    fn any_number_of_empty_streams_is_read() {
        // Each stream of bzip2 needs 400 KB of memory or more, which takes time.
        const NUM_STREAMS: usize = 300_000;
        for (num_streams, empty, packed) in [
            (
                NUM_STREAMS,
                "H4sIAAAAAAACAwMAAAAAAAAAAAA=",
                "H4sIAAAAAAAAA8vJL1coTyxJLeICAAbMSycKAAAA",
            ),
            (
                NUM_STREAMS,
                "/Td6WFoAAAFpIt42AAAAABzfRCGQQpkNAQAAAAABWVo=",
                "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAJbG93IHdhdGVyCgAAAIw+Gv0G+mBIAAEiChUa4WcftvN9AQAAAAAEWVo=",
            ),
            (
                NUM_STREAMS / 10,
                "QlpoMRdyRThQkAAAAAA=",
                "QlpoOTFBWSZTWZxj/9EAAAJRgAAQQAAiBJSAIAAxBkxBANNqcQY2w8XckU4UJCcY//RA",
            ),
            (NUM_STREAMS, "KLUv/SAAAQAA", "KLUv/QRYUQAAbG93IHdhdGVyCm4RdzA="),
        ] {
            let [empty, packed] = [empty, packed].map(|text| BASE64_STANDARD.decode(text).unwrap());
            let many = [empty.repeat(num_streams), packed].concat();
            let expected = [("content".to_owned(), "low water\n".to_owned())];
            assert_eq!(members(read, &many).unwrap(), expected);
        }
    }

    #[test]
    fn streams_of_xz_may_have_padding_between_them() {
        let stream = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAJbG93IHdhdGVyCgAAAIw+Gv0G+mBIAAEiChUa4WcftvN9AQAAAAAEWVo=";
        let stream = BASE64_STANDARD.decode(stream).unwrap();
        let text = |between: &[u8]| {
            members(read, &[&stream, between, &stream].concat()).unwrap().remove(0).1
        };
        assert_eq!(text(&[]), "low water\nlow water\n");
        assert_eq!(text(&[0; 4]), "low water\nlow water\n");
        assert_eq!(text(&[0; 3]), "damaged");
        assert_eq!(text(b"more"), "damaged");
    }

    #[test]
    fn a_compressed_file_is_bounded() {
        let zeros = usize::try_from(limits::MEMBER_BYTES).unwrap() + 1;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &vec![0; zeros]).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(members(read, &packed), Err(FailureKind::OutOfMemory));
    }
}
