//! The agents' own formats, a folder a provider.
