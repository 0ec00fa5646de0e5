import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Link, LinkedList } from './linked-list.js'

it('a LinkedList holds its members in order of arrival, whichever leave', () => {
  const step = fc.option(fc.nat(20), { nil: undefined })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const list = new LinkedList<number>()
      const links: Link<number>[] = []
      for (const [at, leaving] of steps.entries()) {
        if (leaving === undefined || links.length === 0) links.push(list.append(at))
        else list.remove(links.splice(leaving % links.length, 1)[0]!)
        expect([...list]).toEqual(links.map(({ value }) => value))
        expect(list.size).toBe(links.length)
        expect(list.first).toBe(links[0]?.value)
      }
    }),
  )
})

it('a LinkedList lets each member leave while all are gone through', () => {
  const list = new LinkedList<string>()
  const links = new Map(['a', 'b', 'c'].map((name) => [name, list.append(name)]))
  for (const name of list) list.remove(links.get(name)!)
  expect(list.size).toBe(0)
})
