import { expect, it } from 'vitest'
import { RowValues } from './row-values.js'
import type { Source } from './table.js'

it('each value of a row and of its related rows is read once, also if there is none, and again for the next row', () => {
  const reads: unknown[] = []
  const part = (name: string, value: unknown) => ({
    read: (row: unknown) => {
      reads.push([name, row])
      return value
    },
  })
  const values = new RowValues({} as Source)
  const [column, relation] = [part('column', undefined), part('relation', 'related')]
  for (let round = 0; round < 3; round++) {
    expect(values.read(column, 'row')).toBe(undefined)
    expect(values.read(column, values.read(relation, 'row'))).toBe(undefined)
  }
  expect(reads).toEqual([
    ['column', 'row'],
    ['relation', 'row'],
    ['column', 'related'],
  ])
  values.next()
  values.read(column, 'row')
  expect(reads).toHaveLength(4)
})
