//! Record kinds, how often they come and how long they are.
//!
//! Weights are counts of lines and lengths are quantiles (10, 50, 90, 99 per cent, greatest) of a
//! line in bytes, measured over about 700 recorded files of both agents, 58,000 lines. Only these
//! numbers come from there; every word is invented. A template's `$` words are filled in by
//! `history.rs`: `$prose`, `$code`, `$output` and `$base64` share what the drawn length leaves.

/// Line lengths at 0.10, 0.50, 0.90, 0.99 and 1.
pub type Lengths = [u32; 5];

/// One line of a step.
pub struct Shape {
    pub template: &'static str,
    pub lengths: Lengths,
}

/// Lines that come together, in order.
pub struct Step {
    pub weight: u32,
    pub lines: &'static [Shape],
}

const fn line(template: &'static str, lengths: Lengths) -> Shape {
    Shape { template, lengths }
}

/// Sizes of files in bytes, at the same quantiles, for all files.
pub const FILE_SIZES: Lengths = [2_000, 9_300, 500_000, 3_500_000, 4_200_000];
/// Of a hundred bytes of history, those of Claude Code transcripts.
pub const CLAUDE_PERCENT: usize = 72;
/// Of a hundred transcripts, the ones of sub-agents.
pub const AGENT_PERCENT: usize = 36;
/// Of a hundred rollouts, the compressed ones.
pub const COMPRESSED_PERCENT: usize = 5;

/// Begins a Codex rollout.
pub const CODEX_HEAD: Shape = line(
    r#"{"timestamp":"$time","type":"session_meta","payload":{"id":"$session","timestamp":"$time","cwd":"/home/$user/$project","originator":"codex_cli_rs","cli_version":"0.146.0","source":"cli","model_provider":"openai","instructions":"$prose","git":{"commit_hash":"$commit","branch":"main"}}}"#,
    [300, 860, 22_072, 35_988, 35_988],
);

/// Parts that many templates share, put in before anything else.
pub const PARTS: &[(&str, &str)] = &[
    (
        "$head",
        r#""parentUuid":"$parent",$side"userType":"external","cwd":"/home/$user/$project","sessionId":"$session","version":"2.1.170","gitBranch":"main","uuid":"$uuid","timestamp":"$time""#,
    ),
    (
        "$says ",
        r#""type":"assistant","requestId":"req_$request","message":{"model":"claude-sonnet-4-6","id":"msg_$message","type":"message","role":"assistant","content":["#,
    ),
    (
        " $usage",
        r#"],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":$few,"cache_creation_input_tokens":$some,"cache_read_input_tokens":$many,"output_tokens":$some,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":$some,"ephemeral_5m_input_tokens":0},"speed":"standard"}}"#,
    ),
    ("$uses ", r#"{"type":"tool_use","id":"toolu_$call","caller":{"type":"direct"},"name":"#),
    (
        "$result ",
        r#""type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_$call","type":"tool_result","content":"#,
    ),
    (" $from", r#"}]},"sourceToolAssistantUUID":"$parent""#),
    ("$event ", r#"{"timestamp":"$time","type":"event_msg","payload":{"type":"#),
    ("$item ", r#"{"timestamp":"$time","type":"response_item","payload":{"type":"#),
];

/// What stands in Claude Code's transcripts.
pub const CLAUDE: &[Step] = &[
    Step {
        weight: 1_230,
        lines: &[
            line(
                r#"{$head,$says $uses "Edit","input":{"replace_all":false,"file_path":"/home/$user/$project/src/$word.rs","old_string":"$code","new_string":"$code"}} $usage}"#,
                [1_138, 1_606, 4_050, 12_297, 16_932],
            ),
            line(
                r#"{$head,$result "The file /home/$user/$project/src/$word.rs has been updated." $from,"toolUseResult":{"filePath":"/home/$user/$project/src/$word.rs","oldString":"$snippet","newString":"$snippet","originalFile":"$code","structuredPatch":[{"oldStart":$few,"oldLines":7,"newStart":$few,"newLines":8,"lines":["     $snippet","-    $snippet","+    $snippet","+    $snippet","     }"]}],"userModified":false,"replaceAll":false}}"#,
                [2_720, 13_844, 49_268, 125_673, 166_399],
            ),
        ],
    },
    Step {
        weight: 1_026,
        lines: &[
            line(READ_CALL, READ_CALL_LENGTHS),
            line(
                r#"{$head,$result "$code" $from,"toolUseResult":{"type":"text","file":{"filePath":"/home/$user/$project/src/$word.rs","content":"$code","numLines":$some,"startLine":1,"totalLines":$some}}}"#,
                [1_993, 5_448, 26_377, 94_796, 156_408],
            ),
        ],
    },
    // Results of sub-agents and of older builds often stand in the message alone.
    Step {
        weight: 870,
        lines: &[
            line(READ_CALL, READ_CALL_LENGTHS),
            line(r#"{$head,$result "$code" $from}"#, [729, 1_345, 8_221, 28_619, 98_425]),
        ],
    },
    Step {
        weight: 1_699,
        lines: &[
            line(BASH_CALL, BASH_CALL_LENGTHS),
            line(
                r#"{$head,$result "$output","is_error":false $from,"toolUseResult":{"stdout":"$output","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"#,
                [665, 1_297, 7_603, 35_324, 67_253],
            ),
        ],
    },
    Step {
        weight: 290,
        lines: &[
            line(BASH_CALL, BASH_CALL_LENGTHS),
            line(
                r#"{$head,$result "$output","is_error":false $from}"#,
                [729, 1_345, 8_221, 28_619, 98_425],
            ),
        ],
    },
    Step {
        weight: 526,
        lines: &[
            line(BASH_CALL, BASH_CALL_LENGTHS),
            line(
                r#"{$head,$result "Exit code 1\n$output","is_error":true $from,"toolUseResult":"Error: Exit code 1\n$output"}"#,
                [627, 959, 8_471, 25_065, 28_387],
            ),
        ],
    },
    Step {
        weight: 383,
        lines: &[
            line(
                r#"{$head,$says $uses "Write","input":{"file_path":"/home/$user/$project/src/$word.rs","content":"$code"}} $usage}"#,
                [1_388, 4_816, 16_351, 53_825, 54_322],
            ),
            line(
                r#"{$head,$result "File created successfully at: /home/$user/$project/src/$word.rs" $from,"toolUseResult":{"type":"create","filePath":"/home/$user/$project/src/$word.rs","content":"$code","structuredPatch":[],"originalFile":null}}"#,
                [1_388, 4_816, 16_351, 53_825, 54_322],
            ),
        ],
    },
    Step {
        weight: 1_163,
        lines: &[
            line(
                r#"{$head,$says $uses "Grep","input":{"pattern":"$word","path":"/home/$user/$project/$word","output_mode":"content"}} $usage}"#,
                [981, 1_075, 1_249, 1_381, 1_447],
            ),
            line(
                r#"{$head,$result "$output" $from,"toolUseResult":{"mode":"content","numFiles":0,"filenames":[],"content":"$output","numLines":$few}}"#,
                [663, 1_132, 5_755, 47_085, 339_542],
            ),
        ],
    },
    Step {
        weight: 393,
        lines: &[
            line(
                r#"{$head,$says $uses "TodoWrite","input":{"todos":[{"content":"$prose","status":"pending","activeForm":"$prose"},{"content":"$prose","status":"completed","activeForm":"$prose"}]}} $usage}"#,
                [1_027, 1_515, 2_216, 3_758, 3_783],
            ),
            line(
                r#"{$head,$result "Todos have been modified successfully." $from,"toolUseResult":{"oldTodos":[],"newTodos":[{"content":"$prose","status":"pending","activeForm":"$prose"}]}}"#,
                [663, 1_132, 5_755, 8_000, 9_000],
            ),
        ],
    },
    Step {
        weight: 80,
        lines: &[
            line(
                r#"{$head,$says $uses "Task","input":{"description":"$word $word","subagent_type":"general-purpose","prompt":"$prose"}} $usage}"#,
                [1_344, 1_857, 2_803, 8_562, 8_562],
            ),
            line(
                r#"{$head,$result [{"type":"text","text":"$prose"}] $from,"toolUseResult":{"status":"completed","agentId":"$agent","content":[{"type":"text","text":"$prose"}],"totalDurationMs":$many,"totalTokens":$many,"totalToolUseCount":$few,"usage":{"input_tokens":$few,"output_tokens":$some}}}"#,
                [2_860, 12_150, 25_992, 83_566, 83_566],
            ),
        ],
    },
    Step {
        weight: 2_840,
        lines: &[line(
            r#"{$head,$says {"type":"thinking","thinking":"$prose","signature":"$base64"} $usage}"#,
            [931, 1_376, 3_967, 21_059, 82_416],
        )],
    },
    Step {
        weight: 4_226,
        lines: &[line(
            r#"{$head,$says {"type":"text","text":"$prose"} $usage}"#,
            [831, 955, 1_982, 7_258, 41_807],
        )],
    },
    Step {
        weight: 1_937,
        lines: &[line(
            r#"{$head,"type":"user","message":{"role":"user","content":"$prose"}}"#,
            [308, 463, 1_055, 10_387, 24_643],
        )],
    },
    Step {
        weight: 177,
        lines: &[line(
            r#"{$head,"type":"user","message":{"role":"user","content":[{"type":"text","text":"$prose"}]}}"#,
            [407, 474, 5_362, 28_815, 198_630],
        )],
    },
    Step {
        weight: 7,
        lines: &[line(
            r#"{$head,"type":"user","message":{"role":"user","content":[{"type":"text","text":"$snippet"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"$base64"}}]}}"#,
            [42_812, 115_263, 415_645, 1_000_000, 2_000_000],
        )],
    },
    Step {
        weight: 1_529,
        lines: &[line(
            r#"{$head,"type":"progress","toolUseID":"agent_msg_$message","parentToolUseID":"toolu_$call","data":{"type":"agent_progress","agentId":"$agent","prompt":"$snippet","normalizedMessages":[],"message":{"type":"user","uuid":"$uuid","timestamp":"$time","message":{"role":"user","content":[{"tool_use_id":"toolu_$call","type":"tool_result","content":"$code"}]}}}}"#,
            [1_696, 2_777, 23_125, 101_574, 123_883],
        )],
    },
    Step {
        weight: 1_993,
        lines: &[line(
            r#"{$head,"type":"progress","toolUseID":"bash-progress-0","parentToolUseID":"toolu_$call","data":{"type":"bash_progress","output":"$output","fullOutput":"$output","elapsedTimeSeconds":$few,"totalLines":$few,"totalBytes":0}}"#,
            [546, 612, 1_214, 5_212, 5_910],
        )],
    },
    Step {
        weight: 2_050,
        lines: &[line(
            r#"{$head,"type":"progress","toolUseID":"toolu_$call","parentToolUseID":"toolu_$call","data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:Bash","command":"$prose"}}"#,
            [578, 620, 773, 783, 1_201],
        )],
    },
    Step {
        weight: 931,
        lines: &[line(
            r#"{"type":"file-history-snapshot","messageId":"$uuid","isSnapshotUpdate":false,"snapshot":{"messageId":"$uuid","timestamp":"$time","trackedFileBackups":{"src/$word.rs":{"backupFileName":"$hex@v1","version":1,"backupTime":"$time"}}}}"#,
            [236, 344, 1_435, 2_225, 3_124],
        )],
    },
    Step {
        weight: 289,
        lines: &[line(
            r#"{$head,"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"$prose"}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion","toolUseID":"$uuid"}"#,
            [626, 692, 825, 887, 1_411],
        )],
    },
    Step {
        weight: 187,
        lines: &[line(
            r#"{$head,"type":"system","subtype":"turn_duration","durationMs":$many}"#,
            [418, 446, 483, 540, 540],
        )],
    },
    Step {
        weight: 35,
        lines: &[line(
            r#"{$head,"type":"system","subtype":"api_error","level":"error","error":{"status":529},"retryInMs":$some,"retryAttempt":1,"maxRetries":10}"#,
            [440, 511, 661, 757, 757],
        )],
    },
    Step {
        weight: 22,
        lines: &[line(
            r#"{$head,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","compactMetadata":{"trigger":"auto","preTokens":$many}}"#,
            [537, 595, 620, 1_362, 1_362],
        )],
    },
    Step {
        weight: 205,
        lines: &[line(
            r#"{"type":"queue-operation","operation":"enqueue","timestamp":"$time","sessionId":"$session","content":"$prose"}"#,
            [138, 156, 548, 6_712, 12_001],
        )],
    },
    Step {
        weight: 150,
        lines: &[line(
            r#"{"type":"last-prompt","lastPrompt":"$prose","sessionId":"$session"}"#,
            [96, 110, 173, 395, 511],
        )],
    },
    Step {
        weight: 100,
        lines: &[line(
            r#"{"type":"permission-mode","permissionMode":"default","sessionId":"$session"}"#,
            [105, 105, 109, 109, 109],
        )],
    },
    Step {
        weight: 42,
        lines: &[line(
            r#"{"type":"summary","summary":"$prose","leafUuid":"$uuid"}"#,
            [106, 129, 157, 274, 274],
        )],
    },
    Step {
        weight: 33,
        lines: &[line(
            r#"{$head,"type":"attachment","attachment":{"type":"deferred_tools_delta","addedNames":["$prose"],"addedLines":[],"removedNames":[]}}"#,
            [877, 1_716, 3_015, 51_102, 51_102],
        )],
    },
];

const READ_CALL: &str = r#"{$head,$says $uses "Read","input":{"file_path":"/home/$user/$project/src/$word.rs"}} $usage}"#;
const READ_CALL_LENGTHS: Lengths = [892, 1_050, 1_201, 1_290, 1_309];
const BASH_CALL: &str = r#"{$head,$says $uses "Bash","input":{"command":"cargo test $word && ls $word","description":"$prose"}} $usage}"#;
const BASH_CALL_LENGTHS: Lengths = [938, 1_047, 1_319, 2_448, 5_917];

/// What stands in Codex rollouts.
pub const CODEX: &[Step] = &[
    Step {
        weight: 4_200,
        lines: &[
            line(
                r#"$item "function_call","name":"exec_command","arguments":"{\"cmd\":\"cargo test $word && ls $word\",\"workdir\":\"/home/$user/$project\",\"justification\":\"$prose\"}","call_id":"call_$call"}}"#,
                [288, 421, 642, 2_935, 11_590],
            ),
            line(
                r#"$item "function_call_output","call_id":"call_$call","output":"Chunk ID: $chunk\nWall time: 0.$few seconds\nProcess exited with code $exit\nOriginal token count: $few\nOutput:\n$output"}}"#,
                [276, 747, 10_490, 40_939, 147_901],
            ),
        ],
    },
    Step {
        weight: 345,
        lines: &[
            line(
                r#"$item "custom_tool_call","status":"completed","call_id":"call_$call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/$word.rs\n@@\n-$snippet\n+$prose\n*** End Patch"}}"#,
                [545, 1_054, 5_276, 12_593, 25_862],
            ),
            line(
                r#"$item "custom_tool_call_output","call_id":"call_$call","output":"{\"output\":\"Success. $prose\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.0}}"}}"#,
                [324, 382, 4_077, 37_563, 44_944],
            ),
        ],
    },
    Step {
        weight: 111,
        lines: &[line(
            r#"$event "patch_apply_end","call_id":"call_$call","turn_id":"$turn","stdout":"$snippet","stderr":"","success":true,"changes":{"/home/$user/$project/src/$word.rs":{"type":"update","unified_diff":"$code","move_path":null}},"status":"completed"}}"#,
            [733, 1_711, 7_533, 25_637, 28_370],
        )],
    },
    Step {
        weight: 1_836,
        lines: &[
            line(
                r#"$event "agent_message","message":"$said","phase":null,"memory_citation":null}}"#,
                [242, 347, 748, 2_500, 15_139],
            ),
            line(
                r#"$item "message","role":"assistant","content":[{"type":"output_text","text":"$said"}]}}"#,
                [278, 446, 840, 2_526, 15_323],
            ),
        ],
    },
    Step {
        weight: 240,
        lines: &[
            line(
                r#"$event "task_complete","turn_id":"$turn","last_agent_message":"$prose","duration_ms":$many}}"#,
                [261, 1_149, 2_253, 9_432, 15_253],
            ),
            line(
                r#"$event "task_started","turn_id":"$newturn","started_at":1785561000000,"model_context_window":272000}}"#,
                [209, 233, 233, 233, 249],
            ),
            line(
                r#"$item "message","role":"user","content":[{"type":"input_text","text":"$said"}]}}"#,
                [176, 338, 4_175, 33_950, 49_486],
            ),
            line(
                r#"$event "user_message","message":"$said","images":null,"local_images":null,"text_elements":[]}}"#,
                [162, 255, 1_385, 13_407, 49_454],
            ),
        ],
    },
    Step {
        weight: 2_318,
        lines: &[line(
            r#"$item "reasoning","summary":[],"content":null,"encrypted_content":"$base64"}}"#,
            [108, 296, 2_450, 11_797, 79_128],
        )],
    },
    Step {
        weight: 795,
        lines: &[line(
            r#"$event "agent_reasoning","text":"$prose"}}"#,
            [137, 151, 712, 990, 1_743],
        )],
    },
    Step {
        weight: 3_622,
        lines: &[line(
            r#"$event "token_count","info":{"last_token_usage":{"input_tokens":$some,"cached_input_tokens":$some,"output_tokens":$few,"reasoning_output_tokens":$few,"total_tokens":$some},"total_token_usage":{"input_tokens":$many,"cached_input_tokens":$many,"output_tokens":$some,"reasoning_output_tokens":$some,"total_tokens":$many},"model_context_window":272000},"rate_limits":{"primary":{"used_percent":$few.0,"window_minutes":300,"resets_at":1785561000},"secondary":null,"plan_type":"plus"}}}"#,
            [586, 712, 725, 800, 863],
        )],
    },
    Step {
        weight: 1_069,
        lines: &[line(
            r#"{"timestamp":"$time","type":"turn_context","payload":{"turn_id":"$turn","cwd":"/home/$user/$project","approval_policy":"on-request","sandbox_policy":{"mode":"workspace-write"},"model":"gpt-5.6","summary":"auto","user_instructions":"$prose"}}"#,
            [223, 333, 9_943, 12_347, 13_712],
        )],
    },
    Step {
        weight: 67,
        lines: &[line(
            r#"$item "message","role":"developer","content":[{"type":"input_text","text":"$prose"}]}}"#,
            [571, 13_748, 53_371, 60_127, 60_127],
        )],
    },
    Step {
        weight: 179,
        lines: &[line(
            r#"$event "exec_command_end","call_id":"call_$call","turn_id":"$turn","command":["bash","-lc","cargo test $word"],"cwd":"/home/$user/$project","stdout":"$output","stderr":"","aggregated_output":"$output","exit_code":$exit,"duration":{"secs":0,"nanos":$many},"formatted_output":"$snippet","status":"completed"}}"#,
            [646, 1_204, 10_831, 11_720, 13_357],
        )],
    },
    Step {
        weight: 26,
        lines: &[line(
            r#"$event "mcp_tool_call_end","call_id":"call_$call","invocation":{"server":"$word","tool":"$word","arguments":{}},"duration":{"secs":0,"nanos":$many},"result":{"Ok":{"content":[{"type":"text","text":"$prose"}],"isError":false}}}}"#,
            [431, 2_391, 55_451, 138_277, 138_277],
        )],
    },
    Step {
        weight: 38,
        lines: &[line(
            r#"$event "web_search_end","call_id":"ws_$call","query":"$word","action":{"type":"search","queries":["$word"]},"results":[{"type":"text_result","snippet":"$prose"}]}}"#,
            [318, 539, 6_036, 15_864, 15_864],
        )],
    },
    Step {
        weight: 14,
        lines: &[line(
            r#"{"timestamp":"$time","type":"compacted","payload":{"message":"$snippet","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"$prose"}]}]}}"#,
            [1_385, 25_747, 64_914, 75_495, 75_495],
        )],
    },
    Step {
        weight: 33,
        lines: &[line(
            r#"$event "turn_aborted","reason":"interrupted"}}"#,
            [117, 117, 213, 265, 265],
        )],
    },
];
