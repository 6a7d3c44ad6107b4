//! The extension envelope of ADR 0005: what only one provider says, versioned and classified.
//!
//! The version gate runs first: a future envelope is refused with its number and the supported
//! set, whatever else it holds. Within a supported version unknown top-level keys are kept and
//! written back. Values are kept as JSON text, because a parsed tree would change numbers such
//! as `123456789012345678901234567890`, `1e400` or `1.10`; only white space between tokens goes,
//! so that a written envelope is one line. A top-level key that occurs twice is refused; inside
//! values, keys stay as they were spelled. No code branches on `fields` or `unknown`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::provider::Provider;

mod error;
mod scan;

pub use error::EnvelopeError;

/// The versions that this program can vouch for. One is dropped only with its last producer.
pub const SUPPORTED_EXTENSION_SCHEMA_VERSIONS: &[u32] = &[1, 2];

/// The version that new envelopes carry.
pub const EXTENSION_SCHEMA_VERSION: u32 = 2;

/// The longest envelope accepted, in bytes of JSON text.
pub const ENVELOPE_BYTES_MAX: usize = 64 * 1024;

/// The deepest nesting accepted, the envelope's own braces included.
pub const ENVELOPE_DEPTH_MAX: usize = 64;

const VERSION: &str = "schema_version";
const PROVIDER: &str = "provider";
const ADAPTER_VERSION: &str = "adapter_version";
const CONTENT_CLASS: &str = "content_class";
const FIELDS: &str = "fields";
const NAMED_KEYS: [&str; 5] = [VERSION, PROVIDER, ADAPTER_VERSION, CONTENT_CLASS, FIELDS];

crate::open_tag! {
    /// A coarse category of an envelope's content, to route by without reading `fields`.
    pub enum ContentClass {
        /// Details of a tool call that have no canonical field.
        ToolTelemetry = "tool_telemetry",
        /// What the provider says about its own state.
        ProviderDiagnostic = "provider_diagnostic",
        /// Something tried out, which may go again.
        ExperimentalSignal = "experimental_signal",
        /// Metadata as the provider spells it.
        RawProviderMetadata = "raw_provider_metadata",
    }
}

/// Provider-specific evidence, kept apart from the canonical payload.
///
/// Read and write it as JSON text (`parse`, `to_json`, serde from text): a detour through
/// `serde_json::Value`, a flattened or an internally tagged type loses the spelling of numbers.
#[derive(Debug, Clone)]
pub struct ExtensionEnvelope {
    schema_version: u32,
    provider: Provider,
    adapter_version: String,
    content_class: ContentClass,
    fields: Box<RawValue>,
    unknown: BTreeMap<String, Box<RawValue>>,
}

impl ExtensionEnvelope {
    /// A new envelope of the current version; fails when `fields` exceeds a bound.
    pub fn new(
        provider: Provider,
        adapter_version: impl Into<String>,
        content_class: ContentClass,
        fields: &RawValue,
    ) -> Result<Self, EnvelopeError> {
        let envelope = Self {
            schema_version: EXTENSION_SCHEMA_VERSION,
            provider,
            adapter_version: adapter_version.into(),
            content_class,
            fields: compacted(fields)?,
            unknown: BTreeMap::new(),
        };
        envelope.check_bounds()?;
        Ok(envelope)
    }

    /// As `new`, from a tree: for fields that the adapter builds itself.
    pub fn from_value(
        provider: Provider,
        adapter_version: impl Into<String>,
        content_class: ContentClass,
        fields: &Value,
    ) -> Result<Self, EnvelopeError> {
        let fields = raw(fields.to_string())?;
        Self::new(provider, adapter_version, content_class, &fields)
    }

    /// The same envelope, its version kept, with other content and without unknown keys; fails past
    /// a bound.
    pub fn with_fields(&self, fields: &RawValue) -> Result<Self, EnvelopeError> {
        let envelope =
            Self { fields: compacted(fields)?, unknown: BTreeMap::new(), ..self.clone() };
        envelope.check_bounds()?;
        Ok(envelope)
    }

    /// Adds one key beside the named ones; fails on a named or present key, or past a bound.
    pub fn with_unknown(
        mut self,
        name: impl Into<String>,
        value: &RawValue,
    ) -> Result<Self, EnvelopeError> {
        let name = name.into();
        if NAMED_KEYS.contains(&name.as_str()) {
            return Err(EnvelopeError::ReservedKey);
        }
        match self.unknown.entry(name) {
            Entry::Occupied(_) => return Err(EnvelopeError::DuplicateKey),
            Entry::Vacant(slot) => slot.insert(compacted(value)?),
        };
        self.check_bounds()?;
        Ok(self)
    }

    /// Reads an envelope from its JSON text, the version before anything else.
    pub fn parse(text: &str) -> Result<Self, EnvelopeError> {
        let schema_version = gate(text)?;
        check_text_bounds(text)?;
        let mut keys = top_level(text)?;
        let envelope = Self {
            schema_version,
            provider: Provider::from_tag(&take_string(&mut keys, PROVIDER)?),
            adapter_version: take_string(&mut keys, ADAPTER_VERSION)?,
            content_class: ContentClass::from_tag(&take_string(&mut keys, CONTENT_CLASS)?),
            fields: compacted(&take(&mut keys, FIELDS)?)?,
            unknown: BTreeMap::new(),
        };
        keys.remove(VERSION);
        let unknown = keys
            .into_iter()
            .map(|(name, value)| Ok((name, compacted(&value)?)))
            .collect::<Result<_, EnvelopeError>>()?;
        Ok(Self { unknown, ..envelope })
    }

    /// As `parse`, from text that is already known to be JSON.
    pub fn from_raw(raw: &RawValue) -> Result<Self, EnvelopeError> {
        Self::parse(raw.get())
    }

    /// The envelope as one line of JSON: named keys in order, then unknown ones sorted.
    pub fn to_json(&self) -> String {
        let mut text = format!(
            "{{\"{VERSION}\":{},\"{PROVIDER}\":{},\"{ADAPTER_VERSION}\":{},\"{CONTENT_CLASS}\":{},\"{FIELDS}\":{}",
            self.schema_version,
            quoted(self.provider.as_str()),
            quoted(&self.adapter_version),
            quoted(self.content_class.as_str()),
            self.fields.get()
        );
        for (name, value) in &self.unknown {
            text.push(',');
            text.push_str(&quoted(name));
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        text
    }

    /// The version that the envelope was written with.
    pub fn schema_version(&self) -> u32 {
        self.schema_version
    }

    /// The agent runtime that the content is about.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The version of the adapter that built the envelope.
    pub fn adapter_version(&self) -> &str {
        &self.adapter_version
    }

    /// The category of the content.
    pub fn content_class(&self) -> &ContentClass {
        &self.content_class
    }

    /// The content: JSON text, numbers as they were spelled.
    pub fn fields(&self) -> &RawValue {
        &self.fields
    }

    /// Keys that this program does not know, with their values as text.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.unknown.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    fn check_bounds(&self) -> Result<(), EnvelopeError> {
        check_text_bounds(&self.to_json())
    }
}

impl PartialEq for ExtensionEnvelope {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for ExtensionEnvelope {}

impl Serialize for ExtensionEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(NAMED_KEYS.len() + self.unknown.len()))?;
        map.serialize_entry(VERSION, &self.schema_version)?;
        map.serialize_entry(PROVIDER, &self.provider)?;
        map.serialize_entry(ADAPTER_VERSION, &self.adapter_version)?;
        map.serialize_entry(CONTENT_CLASS, &self.content_class)?;
        map.serialize_entry(FIELDS, &self.fields)?;
        for (name, value) in &self.unknown {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ExtensionEnvelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(serde::de::Error::custom)
    }
}

/// Looks at the version alone, so that nothing else in a future envelope can fail first.
fn gate(text: &str) -> Result<u32, EnvelopeError> {
    if !matches!(scan::tokens(text).next(), Some(scan::Token::Open("{"))) {
        return Err(top_level(text).err().unwrap_or(EnvelopeError::NotAnObject));
    }
    let mut version = Err(EnvelopeError::Missing(VERSION));
    for spelling in scan::values_of(text, VERSION) {
        if !spelling.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return Err(EnvelopeError::WrongType { key: VERSION, expected: "an integer" });
        }
        let supported = SUPPORTED_EXTENSION_SCHEMA_VERSIONS;
        match supported.iter().find(|supported| supported.to_string() == spelling) {
            Some(supported) => version = Ok(*supported),
            None => {
                let found = spelling.chars().take(32).collect();
                return Err(EnvelopeError::Incompatible { found });
            }
        }
    }
    version
}

fn check_text_bounds(text: &str) -> Result<(), EnvelopeError> {
    if text.len() > ENVELOPE_BYTES_MAX {
        return Err(EnvelopeError::TooLarge { bytes: text.len() });
    }
    let depth = scan::depth(text);
    if depth > ENVELOPE_DEPTH_MAX {
        return Err(EnvelopeError::TooDeep { depth });
    }
    Ok(())
}

/// The keys of an object in the order written, values as text.
struct TopLevel(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for TopLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = TopLevel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TopLevel, A::Error> {
                let mut keys = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    keys.push(entry);
                }
                Ok(TopLevel(keys))
            }
        }

        deserializer.deserialize_map(Keys)
    }
}

fn top_level(text: &str) -> Result<BTreeMap<String, Box<RawValue>>, EnvelopeError> {
    let TopLevel(entries) = serde_json::from_str(text).map_err(|error| {
        if error.is_data() { EnvelopeError::NotAnObject } else { malformed(&error) }
    })?;
    let mut keys = BTreeMap::new();
    for (name, value) in entries {
        if keys.insert(name, value).is_some() {
            return Err(EnvelopeError::DuplicateKey);
        }
    }
    Ok(keys)
}

fn malformed(error: &serde_json::Error) -> EnvelopeError {
    EnvelopeError::Malformed { line: error.line(), column: error.column() }
}

fn take(
    keys: &mut BTreeMap<String, Box<RawValue>>,
    key: &'static str,
) -> Result<Box<RawValue>, EnvelopeError> {
    keys.remove(key).ok_or(EnvelopeError::Missing(key))
}

fn take_string(
    keys: &mut BTreeMap<String, Box<RawValue>>,
    key: &'static str,
) -> Result<String, EnvelopeError> {
    let value = take(keys, key)?;
    serde_json::from_str(value.get())
        .map_err(|_| EnvelopeError::WrongType { key, expected: "a string" })
}

fn compacted(value: &RawValue) -> Result<Box<RawValue>, EnvelopeError> {
    raw(scan::compact(value.get()))
}

fn raw(text: String) -> Result<Box<RawValue>, EnvelopeError> {
    RawValue::from_string(text).map_err(|error| malformed(&error))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
