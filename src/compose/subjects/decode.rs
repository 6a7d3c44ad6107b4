//! The shipping readers as decoder subjects: recognised, resumed, read and sealed as `ingest` does.
//!
//! The file stands in memory behind the `Files` port; everything above that port is what ships. A
//! descriptor is the watermark of the whole file, and it is refused where the product would not go
//! on from it but read again from the beginning.

use super::super::families;
use super::mark;
use super::observe::observations;
use crate::app::reading::Reading;
use crate::app::recognise::{Recognised, recognise};
use crate::app::resume::{ReadOptions, Target, open_reading};
use crate::base::limits::LINE_BYTES_MAX;
use crate::conformance::decoding::{Decoder, Descriptor, Dialect, NativeFile, Observation};
use crate::domain::record::{Body, Sealed};
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileKind, FileStat, Files, Met};
use crate::ports::recorder::{KnownSource, Watermark};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// How the subjects read.
pub(super) const OPTIONS: ReadOptions<'static> =
    ReadOptions { namespace: "local", line_cap: LINE_BYTES_MAX, deep: false };

/// The reader of one format.
pub(super) struct FileDecoder {
    dialect: Dialect,
    format: &'static str,
    families: Vec<Box<dyn AgentFamily>>,
}

impl FileDecoder {
    /// The reader of `format`.
    pub(super) fn new(dialect: Dialect, format: &'static str) -> Self {
        Self { dialect, format, families: families() }
    }

    fn read(
        &self,
        file: NativeFile<'_>,
        known: Option<&KnownSource>,
    ) -> Result<(Vec<Sealed>, Option<Watermark>), String> {
        let files = InMemory::of(file);
        let path = files.path.clone();
        let stat = files.stat(&path).map_err(|error| error.to_string())?;
        let mut reading = self.open(&files, &path, &stat, known)?;
        let resumed = known.and_then(|k| k.watermark.as_ref()).map(|mark| mark.offset);
        let resumed = resumed.is_none_or(|offset| reading.offset() == offset);
        let (mut records, mut last) = (Vec::new(), None);
        reading
            .read_available(&files, &stat, &mut |batch| {
                records.extend(batch.records);
                last = batch.watermark.or(last.take());
                true
            })
            .map_err(|error| error.to_string())?;
        if resumed { Ok((records, last)) } else { Err(refusal(&records)) }
    }

    fn open(
        &self,
        files: &InMemory,
        path: &Path,
        stat: &FileStat,
        known: Option<&KnownSource>,
    ) -> Result<Reading, String> {
        let found = recognise(files, &self.families, path).map_err(|error| error.to_string())?;
        let Recognised::As(family, format) = found else {
            return Err("source_not_recognised".to_owned());
        };
        if format.name != self.format {
            return Err(format!("it is a {}", format.name));
        }
        let target = Target { path, stat, known, verified: false };
        open_reading(files, family, &format, &target, &OPTIONS)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| "source_not_recognised".to_owned())
    }
}

/// Why the product began again instead of going on.
fn refusal(records: &[Sealed]) -> String {
    let noted = records.iter().find_map(|record| match &record.body {
        Body::Loss(loss) => Some(loss.reason.as_str().to_owned()),
        _ => None,
    });
    noted.unwrap_or_else(|| "of another format or decoder".to_owned())
}

impl Decoder for FileDecoder {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn describe(&mut self, file: NativeFile<'_>) -> Result<Descriptor, String> {
        let (_, mark) = self.read(file, None)?;
        let mark = mark.ok_or("nothing was read")?;
        Ok(Descriptor {
            format: self.format.to_owned(),
            decoder: mark.decoder.clone(),
            boundary: mark.offset,
            evidence: mark::to_json(&mark).to_string(),
        })
    }

    fn decode(
        &mut self,
        file: NativeFile<'_>,
        descriptor: Option<&Descriptor>,
    ) -> Result<Vec<Observation>, String> {
        let known = descriptor.map(|described| known(file.path, described)).transpose()?;
        let (records, _) = self.read(file, known.as_ref())?;
        Ok(observations(file.path, &records))
    }
}

/// The descriptor as the store would know the source.
fn known(path: &str, described: &Descriptor) -> Result<KnownSource, String> {
    let evidence = serde_json::from_str(&described.evidence).map_err(|error| error.to_string())?;
    let mark = mark::from_json(&evidence).ok_or("the descriptor's evidence is not one of ours")?;
    Ok(KnownSource {
        id: 1,
        path: path.to_owned(),
        format: described.format.clone(),
        provider: String::new(),
        generation: 1,
        begun: 1,
        watermark: Some(Watermark {
            offset: described.boundary,
            decoder: described.decoder.clone(),
            ..mark
        }),
        state: "active".to_owned(),
    })
}

/// One file in memory.
struct InMemory {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl InMemory {
    fn of(file: NativeFile<'_>) -> Self {
        Self { path: PathBuf::from(file.path), bytes: file.bytes.to_vec() }
    }

    fn held(&self, path: &Path) -> io::Result<&[u8]> {
        if path == self.path { Ok(&self.bytes) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Files for InMemory {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let size = self.held(path)?.len() as u64;
        Ok(FileStat {
            kind: FileKind::File,
            device: 1,
            inode: 1,
            size,
            modified_ns: 0,
            changed_ns: 0,
            settled: true,
        })
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.held(path)?.get(from..).unwrap_or_default();
        Ok(Box::new(Cursor::new(rest.to_vec())))
    }

    fn walk(&self, root: &Path) -> Vec<Met> {
        self.held(root).map(|_| Met::File(root.to_owned())).into_iter().collect()
    }
}
