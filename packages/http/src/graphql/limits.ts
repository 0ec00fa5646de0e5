/** Longest document, in UTF-16 units. */
export const LONGEST_DOCUMENT = 32 * 1024
/** Most tokens of a document. Those of the SDK have at most 150. */
export const MOST_TOKENS = 1_000
/** Most levels of braces, brackets and parentheses in a document, and of lists and objects in its variables. */
export const MOST_LEVELS = 16
/** Most fields of a document. Fields of a fragment count each time that it is used. */
export const MOST_FIELDS = 300
/** Most conditions of a filter; each value of a list counts as one. */
export const MOST_CONDITIONS = 100
/** Rows of a field without a limit. */
export const DEFAULT_ROWS = 100
/** Most rows of a field. A larger limit counts as this one. */
export const MOST_ROWS = 1_000
/** Most values of an answer: the rows of each field times the fields of a row. */
export const MOST_VALUES = 100_000
/** Most rows that a document reads, with those that it filters out, counts, skips or sorts. */
export const MOST_ROWS_READ = 20_000
/** Heap of a row that is kept until all rows are sorted or grouped. */
export const BYTES_OF_ROW = 1_024
