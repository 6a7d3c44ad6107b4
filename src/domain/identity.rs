//! Three of the four identities: agent, execution, surface. The fourth, the conversation, is
//! `key::ConversationKey`.
//!
//! An agent is a durable peer address; an execution is one invocation or attachment; a surface
//! is a pane or process handle with its teardown ownership. They are separate types so that one
//! can never be passed where another is meant, and nothing here converts between them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::key::is_blank;

/// An identity was given without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlankIdentity(&'static str);

impl fmt::Display for BlankIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} is blank", self.0)
    }
}

impl std::error::Error for BlankIdentity {}

macro_rules! identity {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Takes the id as it was observed; fails only when it is blank.
            pub fn new(id: impl Into<String>) -> Result<Self, BlankIdentity> {
                let id = id.into();
                if is_blank(&id) { Err(BlankIdentity($what)) } else { Ok(Self(id)) }
            }

            /// The id as it was observed.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BlankIdentity;

            fn try_from(id: String) -> Result<Self, BlankIdentity> {
                Self::new(id)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

identity! {
    /// A durable peer address, owned by whoever orchestrates agents.
    AgentId, "agent id"
}

identity! {
    /// One invocation of an agent, or one attachment to it.
    ExecutionId, "execution id"
}

/// A host's handle on a pane or process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceRef {
    /// What the handle is: `tmux_pane`, `process`, ...
    pub kind: String,
    /// The host that the handle is valid on.
    pub host: String,
    /// The handle as the host spells it.
    pub native_id: String,
    /// Whether whoever recorded this surface must also tear it down.
    pub owned: bool,
}

impl SurfaceRef {
    /// A surface; fails when its kind, host or native id is blank.
    pub fn new(
        kind: impl Into<String>,
        host: impl Into<String>,
        native_id: impl Into<String>,
        owned: bool,
    ) -> Result<Self, BlankIdentity> {
        let surface =
            Self { kind: kind.into(), host: host.into(), native_id: native_id.into(), owned };
        let parts = [
            (&surface.kind, "surface kind"),
            (&surface.host, "surface host"),
            (&surface.native_id, "surface native id"),
        ];
        match parts.iter().find(|(text, _)| is_blank(text)) {
            Some((_, what)) => Err(BlankIdentity(what)),
            None => Ok(surface),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_identity_is_refused_also_on_the_wire() {
        assert_eq!(AgentId::new(" \u{feff}"), Err(BlankIdentity("agent id")));
        assert!(ExecutionId::new("").is_err());
        assert!(serde_json::from_str::<AgentId>("\"\\t\"").is_err());
        assert!(SurfaceRef::new("process", "", "41", true).is_err());
    }

    #[test]
    fn an_identity_keeps_its_spelling() {
        let id: AgentId = serde_json::from_str("\"Peer A\"").unwrap();
        assert_eq!(id.as_str(), "Peer A");
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"Peer A\"");
    }

    #[test]
    fn a_surface_says_who_tears_it_down() {
        let surface = SurfaceRef::new("tmux_pane", "host-1", "%3", false).unwrap();
        let text = serde_json::to_string(&surface).unwrap();
        assert_eq!(text, r#"{"kind":"tmux_pane","host":"host-1","native_id":"%3","owned":false}"#);
    }
}
