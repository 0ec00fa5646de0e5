import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const EXPLORER = readFileSync(new URL('styles.css', import.meta.url), 'utf8')
const SPEC_PAGE = readFileSync(new URL('../../../packages/http/src/document/spec-page.ts', import.meta.url), 'utf8')

function coloursOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/--([a-z-]+): (light-dark\([^)]+\))/g)].map(([, name, colours]) => [name!, colours!]),
  )
}

it('the page of the API document has the colours of this page', () => {
  const ours = coloursOf(EXPLORER)
  const colours = coloursOf(SPEC_PAGE)
  expect(colours.size).toBe(6)
  for (const [name, pair] of colours)
    expect([name, ours.get(name === 'soft' ? 'text-soft' : name)]).toEqual([name, pair])
})
