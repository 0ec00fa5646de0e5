import { expect, it } from 'vitest'
import { redirectTarget } from './redirect.js'

const target = (url: string, headers: Record<string, string>) => redirectTarget(url, new Headers(headers))
const region = (name: string) => ({ 'x-amz-bucket-region': name })

it.each([
  ['https://b.s3.amazonaws.com/k?x=1', region('eu-west-1'), 'https://b.s3.eu-west-1.amazonaws.com/k?x=1'],
  ['https://s3.amazonaws.com/b.c/k', region('eu-west-1'), 'https://s3.eu-west-1.amazonaws.com/b.c/k'],
  ['https://b.s3.us-east-1.amazonaws.com/k', region('eu-west-1'), 'https://b.s3.eu-west-1.amazonaws.com/k'],
  ['https://b.s3.eu-west-1.amazonaws.com/k', region('eu-west-1'), undefined],
  ['https://b.s3.amazonaws.com/k', region('evil.example/'), undefined],
  ['https://h.example/k', region('eu-west-1'), undefined],
])('leads from %s with %j to %s', (url, headers, expected) => {
  expect(target(url, headers)).toBe(expected)
})

it.each([
  ['https://b.s3.amazonaws.com/k', 'https://b.s3.eu-west-1.amazonaws.com/k', true],
  ['http://h.example/k', 'https://h.example/k', true],
  ['https://h.example/k', '/other', true],
  ['https://h.example/k', 'http://h.example/k', false],
  ['https://h.example/k', 'https://h.example:444/k', false],
  ['https://h.example/k', 'https://other.example/k', false],
  ['https://h.example/k', 'https://u:p@h.example/k', false],
  ['https://b.s3.amazonaws.com/k', 'https://b.s3.amazonaws.com.evil.example/k', false],
])('may lead from %s to %s: %s', (url, location, isFollowed) => {
  expect(target(url, { location })).toBe(isFollowed ? new URL(location, url).href : undefined)
})
