-- Verdicts that were given, with those that they took the place of.

CREATE TABLE finding (
  id           INTEGER PRIMARY KEY,
  uid          BLOB NOT NULL,
  claim_uid    BLOB NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  claim        TEXT NOT NULL,
  verdict      TEXT NOT NULL,
  reason       TEXT NOT NULL,
  rationale    TEXT NOT NULL,
  evidence     TEXT NOT NULL,
  verifier     TEXT NOT NULL,
  judged_us    INTEGER NOT NULL,
  replaced_us  INTEGER
);
CREATE UNIQUE INDEX finding_current ON finding (conversation, uid) WHERE replaced_us IS NULL;
CREATE INDEX finding_uid ON finding (uid, id);
CREATE INDEX finding_claim ON finding (claim_uid, id);

-- When a conversation was last judged, and how many events it had then.
CREATE TABLE judged (
  conversation INTEGER PRIMARY KEY REFERENCES conversation (id) ON DELETE CASCADE,
  events       INTEGER NOT NULL,
  at_us        INTEGER NOT NULL
);

-- Turns whose end was blocked once by `hook --gate`.
CREATE TABLE gated (
  conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  turn         TEXT NOT NULL,
  at_us        INTEGER NOT NULL,
  PRIMARY KEY (conversation, turn)
) WITHOUT ROWID;
