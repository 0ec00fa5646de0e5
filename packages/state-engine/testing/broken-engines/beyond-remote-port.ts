/**
 * Faults that do not show behind the port of remote engines. It has no `get`, `peek`, `has` and `getMany`, one `load` in
 * place of them; its snapshots check arguments and versions themselves; and its lists are pages, during which nothing
 * else happens.
 */
export const BEYOND_REMOTE_PORT: ReadonlySet<string> = new Set([
  'keeps the value that it is given, not a copy',
  'cuts values above a megabyte',
  'finds nothing in a pruned view: get',
  'finds nothing in a pruned view: peek',
  'finds nothing in a pruned view: has',
  'finds nothing in a pruned view: getMany',
  'moves the ledger of a view',
  'moves the view of the latest version to the next',
  'reads an empty value as absent',
  'reads what is absent as an empty value',
  'has no empty values',
  'leaves out absent keys of getMany',
  'peeks at the latest version',
  'answers versions above the latest',
  'answers versions below the oldest',
  'hands out its own bytes: get',
  'hands out its own bytes: getMany',
  'says nothing of a key that is no bytes',
  'fails with a TypeError for keys that are no array',
  'takes a number for a version',
  'calls a negative version pruned',
  'ends a scan early that a prune overtakes',
  'finishes a scan that a prune overtakes',
  'ends a history early that a prune overtakes',
  'finishes a history that a prune overtakes',
  'breaks every history off that a prune meets',
  'adds to a history what is committed meanwhile',
  'lists versions up to the latest only',
  'ends a list of versions early that a prune overtakes',
  'answers blocks of versions that were pruned',
  'answers after it was closed',
])
