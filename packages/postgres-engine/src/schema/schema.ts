// The tables of a store: docs/postgres.md.

/** Number of the layout. Stores with another number are refused. CONTRIBUTING.md says when it is raised. */
export const LAYOUT_VERSION = 5

/** Bytes of a key by which scans find it: PostgreSQL limits the length of index entries, and our keys are longer. */
export const KEY_HEAD_BYTES = 512

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
  -- Raised when the mark is replaced without a commit.
  mark_number bigint NOT NULL DEFAULT 0,
  -- Written, but visible only once latest_version is as high.
  written_version bigint,
  written_mark bytea,
  -- Version up to which superseded writes are deleted.
  pruned_version bigint,
  import_version bigint,
  import_number bigint NOT NULL DEFAULT 0,
  import_count bigint NOT NULL DEFAULT 0,
  import_mark bytea,
  -- The number of the newest truncation.
  branch bigint NOT NULL DEFAULT 0,
  -- The truncations that the ledger reports: number, version, number, version, …
  truncations bigint[] NOT NULL DEFAULT '{}'
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

/** Statements that create the tables, in their order. */
export const CREATE_TABLES = [
  CREATE_HEAD,
  'INSERT INTO ledger_state.head DEFAULT VALUES',
  CREATE_BLOCKS,
  'CREATE INDEX blocks_by_time ON ledger_state.blocks (timestamp_usec, first_version)',
  CREATE_ENTRIES,
  CREATE_KEYS,
] as const

/** Statements that distribute the tables, if the server has the extension citus. */
export const DISTRIBUTE_TABLES = [
  "SELECT create_distributed_table('ledger_state.entries', 'key_hash')",
  "SELECT create_distributed_table('ledger_state.keys', 'key_hash', colocate_with => 'ledger_state.entries')",
] as const

/** Statements that create the indexes. They come last, so that Citus creates them on its workers. */
export const CREATE_INDEXES = [
  'CREATE INDEX entries_by_version ON ledger_state.entries (version)',
  `CREATE INDEX keys_in_order ON ledger_state.keys (substring(key FROM 1 FOR ${KEY_HEAD_BYTES}))`,
] as const
