//! Any line gives values inside the line, or a refusal; never a panic.
#![no_main]
use fornax::base::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let (found, _) = json::values(line);
    for value in found {
        assert!(value.offset + value.length <= line.len());
    }
});
