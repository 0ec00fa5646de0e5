type Method = (this: string, ...values: unknown[]) => unknown

/** Methods that look at one character. */
const CONSTANT = ['charCodeAt', 'codePointAt', 'at', 'charAt'] as const
/** Methods that may look at the whole text. */
const LINEAR = [
  'includes',
  'lastIndexOf',
  'match',
  'matchAll',
  'padStart',
  'replace',
  'replaceAll',
  'search',
  'split',
  'startsWith',
  'endsWith',
  'toLowerCase',
  'toUpperCase',
  'trim',
  'trimEnd',
  'trimStart',
] as const

/** Methods that copy a part of the text. */
const COPYING = ['slice', 'substring'] as const

/**
 * Counts the steps of work on texts: the characters that its string methods look at. A regular expression counts as the
 * square of its text, because it may backtrack. The methods are replaced while the work runs.
 */
export function countSteps(work: () => void): number {
  let steps = 0
  const undo: (() => void)[] = []
  const replaceMethod = (
    target: object,
    name: string,
    cost: (text: string, values: unknown[], result: unknown) => number,
  ) => {
    const original = Reflect.get(target, name) as Method
    Object.defineProperty(target, name, {
      configurable: true,
      writable: true,
      value(this: string, ...values: unknown[]) {
        const result = original.apply(this, values)
        steps += cost(this, values, result)
        return result
      },
    })
    undo.push(() => Object.defineProperty(target, name, { configurable: true, writable: true, value: original }))
  }
  for (const name of CONSTANT) replaceMethod(String.prototype, name, () => 1)
  for (const name of LINEAR) {
    replaceMethod(String.prototype, name, (text, [pattern]) => {
      return 1 + (pattern instanceof RegExp ? text.length ** 2 : text.length)
    })
  }
  replaceMethod(String.prototype, 'indexOf', (text, [, from], at) => {
    const end = (at as number) < 0 ? text.length : (at as number) + 1
    return 1 + Math.max(0, end - Number(from ?? 0))
  })
  for (const name of COPYING) replaceMethod(String.prototype, name, (_text, _values, part) => 1 + String(part).length)
  for (const name of ['exec', 'test']) replaceMethod(RegExp.prototype, name, (_, [text]) => String(text).length ** 2)
  replaceMethod(globalThis, 'decodeURIComponent', (_, [text]) => String(text).length)
  try {
    work()
  } finally {
    for (const one of undo) one()
  }
  return steps
}
