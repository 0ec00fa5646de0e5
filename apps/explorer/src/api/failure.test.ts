import { expect, it } from 'vitest'
import { toFailure } from './failure.ts'

const answer = (status: number, retryAfter: string | null = null) =>
  toFailure({ status, text: '<html>', head: undefined, retryAfter, states: [] })

it.each([429, 502, 503, 504])('an answer %i, also of a proxy, passes: it is asked again after its pause', (status) => {
  expect(answer(status, '5')).toEqual({
    kind: 'overloaded',
    message: `the node answered ${status}`,
    retryAfterMs: 5_000,
  })
  expect(answer(status).retryAfterMs).toBe(1_000)
  expect(answer(status, '9000').retryAfterMs).toBe(30_000)
})

it('other answers stay', () => {
  expect([400, 403, 404, 410, 500].map((status) => answer(status).retryAfterMs)).toEqual(Array(5).fill(undefined))
})
