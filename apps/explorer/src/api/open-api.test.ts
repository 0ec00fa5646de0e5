import { expect, it } from 'vitest'
import { type OpenApiDocument, operationsOf, toRequest } from './open-api.ts'

const parameter = (name: string, place: 'path' | 'query' | 'header', type: string) => {
  return { name, in: place, description: '', required: place === 'path', schema: { type } }
}

it('a form sends a parameter that is an object as parameters of their own', () => {
  const document: OpenApiDocument = {
    paths: {
      '/events/{event_type}': {
        get: {
          ...{
            operationId: 'get_events',
            tags: ['Events'],
            summary: '',
            description: '',
            responses: { 200: { content: {} } },
          },
          parameters: [
            parameter('event_type', 'path', 'string'),
            parameter('limit', 'query', 'integer'),
            parameter('filters', 'query', 'object'),
            parameter('x-version', 'header', 'string'),
          ],
        },
      },
    },
  }
  const [operation] = operationsOf(document)
  const path = (written: Readonly<Record<string, string>>) =>
    toRequest(operation!, { event_type: '0x1::a::B<u8>', ...written }, '').path
  expect(path({})).toBe('/events/0x1::a::B%3Cu8%3E')
  expect(path({ filters: 'field.amount=1&field.id.name=a b', limit: '5' })).toBe(
    '/events/0x1::a::B%3Cu8%3E?limit=5&field.amount=1&field.id.name=a+b',
  )
})
