/** A label on an axis. */
export interface Label {
  /** Place on the axis, from 0 to 1. */
  readonly place: number
  readonly text: string
}

/** How a label lies at its place. */
export type Alignment = 'first' | 'middle' | 'last'

export interface FittedLabel extends Label {
  readonly alignment: Alignment
}

/** Width in pixels of a character, at most, and the least space between two labels. */
const CHARACTER = 7.5
const SPACE = 12

/**
 * The labels that fit on an axis without touching each other. Near the ends they lie inside of the axis.
 * @param width width of the axis in pixels
 */
export function fitLabels(labels: readonly Label[], width: number): readonly FittedLabel[] {
  const fitted: FittedLabel[] = []
  let free = Number.NEGATIVE_INFINITY
  for (const { place, text } of labels) {
    const at = place * width
    const length = text.length * CHARACTER
    const alignment = at < length / 2 ? 'first' : at > width - length / 2 ? 'last' : 'middle'
    const left = alignment === 'first' ? at : alignment === 'last' ? at - length : at - length / 2
    if (left < free) continue
    fitted.push({ place, text, alignment })
    free = left + length + SPACE
  }
  return fitted
}
