import { dirname, join } from 'node:path'

/** The modules that a module imports, values and types, as paths without endings. */
function targetsOf(path: string, text: string): string[] {
  const targets = text.matchAll(/\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)
  return [...targets].map(([, from, dynamic]) => join(dirname(path), (from ?? dynamic)!).replace(/\.[jt]sx?$/, ''))
}

/** Layer of a module of `source`: its folder, or the module itself if it is in no folder. */
function layerOf(source: string, path: string): string | undefined {
  return path.startsWith(`${source}/`)
    ? path
        .slice(source.length + 1)
        .split('/')[0]!
        .replace(/\.[jt]sx?$/, '')
    : undefined
}

/**
 * A circle of folders and of modules outside of folders, as a folder that imports one above it makes; undefined if there
 * is none. dependency-cruiser sees circles of folders, but not a circle through a module outside of them.
 * @param modules paths of the modules of `source`, with their texts
 */
export function layerCircle(source: string, modules: ReadonlyMap<string, string>): readonly string[] | undefined {
  const below = new Map<string, Set<string>>()
  for (const [path, text] of modules) {
    const layer = layerOf(source, path)!
    const targets = below.get(layer) ?? new Set()
    below.set(layer, targets)
    for (const target of targetsOf(path, text)) {
      const other = layerOf(source, target)
      if (other !== undefined && other !== layer) targets.add(other)
    }
  }
  const done = new Set<string>()
  const visit = (layer: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(layer)) return [...path.slice(path.indexOf(layer)), layer]
    if (done.has(layer)) return undefined
    for (const next of below.get(layer) ?? []) {
      const circle = visit(next, [...path, layer])
      if (circle) return circle
    }
    done.add(layer)
    return undefined
  }
  for (const layer of below.keys()) {
    const circle = visit(layer, [])
    if (circle) return circle
  }
  return undefined
}

const through = (text: string) =>
  layerCircle(
    'p/src',
    new Map([
      ['p/src/a/x.ts', "import { y } from '../y.js'\n"],
      ['p/src/y.ts', text],
    ]),
  )
if (through("import type { z } from './a/z.js'\n")?.join() !== 'a,y,a' || through("import { z } from './b/z.js'\n"))
  throw new Error(
    'layerCircle does not find a circle through a module outside of folders, or finds one where there is none',
  )
