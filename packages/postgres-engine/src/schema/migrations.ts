// The layout of the store: docs/postgres.md. Each migration is applied once, in order; the layout version is how many were.

/** Characters of a key by which scans find it: PostgreSQL's index entries are limited, our keys are not. */
export const KEY_HEAD_BYTES = 512

export interface Migration {
  /** Statements, one after the other. */
  readonly tables: readonly string[]
  /** Those that follow where the server has the extension citus. */
  readonly distribution: readonly string[]
  readonly indexes: readonly string[]
}

const CREATE_HEAD = `
CREATE TABLE ledger_state.head (
  -- One row.
  is_head boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  writer_epoch bigint NOT NULL DEFAULT 0,
  chain_id numeric(20),
  base_version bigint,
  base_complete boolean,
  latest_version bigint,
  latest_block bigint,
  oldest_version bigint,
  oldest_block bigint,
  mark bytea,
  -- Written, but visible only once latest_version is as high.
  written_version bigint,
  written_rows bigint,
  written_mark bytea,
  -- Writes up to this version have lost what they supersede.
  pruned_version bigint,
  import_version bigint,
  import_number bigint NOT NULL DEFAULT 0,
  import_count bigint NOT NULL DEFAULT 0,
  import_mark bytea
)`

const CREATE_BLOCKS = `
CREATE TABLE ledger_state.blocks (
  first_version bigint PRIMARY KEY,
  height bigint NOT NULL UNIQUE,
  epoch bigint NOT NULL,
  timestamp_usec bigint NOT NULL
)`

const CREATE_ENTRIES = `
CREATE TABLE ledger_state.entries (
  key_hash bytea NOT NULL,
  version bigint NOT NULL,
  -- Null for a deletion.
  value bytea,
  PRIMARY KEY (key_hash, version)
)`

const CREATE_KEYS = 'CREATE TABLE ledger_state.keys (key_hash bytea PRIMARY KEY, key bytea NOT NULL)'

export const MIGRATIONS: readonly Migration[] = [
  {
    tables: [
      CREATE_HEAD,
      'INSERT INTO ledger_state.head DEFAULT VALUES',
      CREATE_BLOCKS,
      'CREATE INDEX blocks_by_time ON ledger_state.blocks (timestamp_usec, first_version)',
      CREATE_ENTRIES,
      CREATE_KEYS,
    ],
    distribution: [
      "SELECT create_distributed_table('ledger_state.entries', 'key_hash')",
      "SELECT create_distributed_table('ledger_state.keys', 'key_hash', colocate_with => 'ledger_state.entries')",
    ],
    indexes: [
      'CREATE INDEX entries_by_version ON ledger_state.entries (version)',
      `CREATE INDEX keys_in_order ON ledger_state.keys (substring(key FROM 1 FOR ${KEY_HEAD_BYTES}))`,
    ],
  },
  // Rows of the commit that was written last were once counted on the workers of Citus before it was told of.
  { tables: ['ALTER TABLE ledger_state.head DROP COLUMN written_rows'], distribution: [], indexes: [] },
  {
    tables: [
      // The number of the newest truncation, and of those that the ledger tells of the numbers and versions, one after the other.
      'ALTER TABLE ledger_state.head ADD COLUMN branch bigint NOT NULL DEFAULT 0',
      "ALTER TABLE ledger_state.head ADD COLUMN truncations bigint[] NOT NULL DEFAULT '{}'",
    ],
    distribution: [],
    indexes: [],
  },
]

export const LAYOUT_VERSION = MIGRATIONS.length
