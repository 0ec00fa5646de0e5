import type { Layout } from './layout.js'

/**
 * Compiles a layout part by part. `compile` gets a part, and a function that returns the parts inside it, compiled. A
 * part used in several places is compiled once, so work and memory are proportional to `layoutSize`.
 */
export function compileLayout<T>(layout: Layout, compile: (part: Layout, inner: (part: Layout) => T) => T): T {
  const compiled = new Map<Layout, T>()
  const inner = (part: Layout): T => {
    const known = compiled.get(part)
    if (known !== undefined) return known
    const one = compile(part, inner)
    compiled.set(part, one)
    return one
  }
  return inner(layout)
}
