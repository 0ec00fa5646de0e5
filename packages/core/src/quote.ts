/** UTF-16 units that a message shows of one text. Escaped in JSON and in UTF-8 they are below 1 KB. */
const MAX_SHOWN = 160

/** A text short enough for an error message. */
export function clip(text: string, most = MAX_SHOWN): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`
}

/** A text in quotes, as JSON writes it, short enough for an error message: at most 1 KB. */
export function quote(text: string): string {
  return JSON.stringify(clip(text))
}
