import { expect, it } from 'vitest'
import type { ListedTableItem } from '../api/answers.ts'
import { changedItems } from './block-search.ts'

const item = (key: string, value: unknown): ListedTableItem => ({ key, value }) as ListedTableItem

it('finds the items that differ, with their values before and after', () => {
  const before = [item('a', 1), item('b', { x: [1] }), item('c', 3)]
  const after = [item('a', 1), item('b', { x: [2] }), item('d', 4)]
  expect(changedItems(before, after, true)).toEqual([
    { key: 'b', before: { x: [1] }, after: { x: [2] } },
    { key: 'c', before: 3, after: undefined },
    { key: 'd', before: undefined, after: 4 },
  ])
})

it('of a part of the items, one that only one side has may be beyond the end of the other', () => {
  expect(changedItems([item('a', 1), item('b', 2)], [item('b', 3), item('c', 4)], false)).toEqual([
    { key: 'b', before: 2, after: 3 },
  ])
})

it('compares items of an unknown type by their bytes', () => {
  const raw = (key: string, value: string) => ({ raw_key: key, raw_value: value }) as ListedTableItem
  expect(changedItems([raw('0x1', '0x2')], [raw('0x1', '0x3')], true)).toEqual([
    { key: '0x1', before: '0x2', after: '0x3' },
  ])
})
