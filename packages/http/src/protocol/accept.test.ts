import { describe, expect, it } from 'vitest'
import { acceptsOnlyJson, chooseFormat } from './accept.js'

describe('chooseFormat', () => {
  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['not a mime', 'json'],
    ['text/html', 'json'],
    ['application/json', 'json'],
    ['application/x-bcs', 'bcs'],
    ['APPLICATION/X-BCS', 'bcs'],
    ['application/x-bcs;q=0.9', 'bcs'],
    ['application/json;q=0.5, application/x-bcs', 'bcs'],
    ['application/x-bcs, application/json', 'bcs'],
    ['application/json, application/x-bcs', 'json'],
    ['application/x-bcs; charset=utf-8', 'bcs'],
    ['application/json;q=0', 'json'],
    ['application/json;q=0, */*', 'bcs'],
    ['application/x-bcs;q=0.2, */*;q=0.1', 'bcs'],
    ['text/html, application/x-bcs;q=0.8, */*;q=0.9', 'json'],
    ['application/json;v="a,application/x-bcs;q=1"', 'json'],
    ['application/x-bcs;q=2', 'bcs'],
  ] as const)('chooses for Accept %j the format %s', (accept, format) => {
    expect(chooseFormat(accept, 'json')).toBe(format)
  })
})

describe('acceptsOnlyJson', () => {
  it.each([
    [undefined, false],
    ['*/*', false],
    ['application/json', true],
    ['application/json, application/x-bcs;q=0', true],
    ['application/json, */*;q=0.1', false],
    ['application/x-bcs', false],
    ['text/html', false],
  ])('answers for Accept %j: %s', (accept, only) => {
    expect(acceptsOnlyJson(accept)).toBe(only)
  })
})
