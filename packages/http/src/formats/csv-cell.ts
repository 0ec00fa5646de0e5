/** Texts that need no quotes and that no program takes for a formula. A number may be negative. */
const PLAIN = /^(?:[\w.:][\w.:-]*|-\d+)?$/
/**
 * Texts that spreadsheets run as formulas when a file is opened, quoted or not, with the prefixes that some of them
 * skip: see "CSV Injection" of OWASP.
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u

/**
 * A text as a cell of CSV (RFC 4180), in quotes if it needs them. Texts come from the chain, where anybody writes them:
 * one that looks like a formula gets an apostrophe before it, with which spreadsheets show it as text. All CSV is made of
 * these cells.
 * @example
 * ```ts
 * import { csvCell } from '@ledger-state/http/formats'
 *
 * console.log(['12', '-5', 'two words', '=1+1'].map(csvCell).join()) // 12,-5,"two words","'=1+1"
 * ```
 */
export function csvCell(text: string): string {
  if (PLAIN.test(text)) return text
  return `"${FORMULA.test(text) ? "'" : ''}${text.replaceAll('"', '""')}"`
}
