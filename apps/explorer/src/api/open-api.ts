import type { ApiRequest } from './client.ts'

interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly required?: boolean
}

/** The parts of an OpenAPI document from which forms are made. */
export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly tags: readonly string[]
            readonly summary: string
            readonly description: string
            readonly parameters?: readonly OpenApiParameter[]
            readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
}

export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** Path below `/v1`, with `{name}` for path parameters. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly description: string
    readonly isRequired: boolean
  }[]
  /** A body with the required members; empty if the operation has none. */
  readonly bodyExample: string
}

export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => {
      const schema = one.requestBody?.content['application/json']?.schema
      return {
        id: one.operationId,
        method: method === 'post' ? 'POST' : 'GET',
        path,
        tag: one.tags[0] ?? 'Others',
        summary: one.summary,
        description: one.description,
        parameters: (one.parameters ?? []).flatMap(({ name, in: place, description = '', required = false }) =>
          place === 'header' ? [] : [{ name, in: place, description, isRequired: required || place === 'path' }],
        ),
        bodyExample: schema ? JSON.stringify(exampleOf(schema, document, 0), undefined, 2) : '',
      }
    }),
  )
}

const DEEPEST_EXAMPLE = 6

function exampleOf(schema: Schema, document: OpenApiDocument, depth: number): unknown {
  if (depth > DEEPEST_EXAMPLE) return null
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split('/').at(-1)!]
    return named ? exampleOf(named, document, depth + 1) : null
  }
  if (schema.properties) {
    const names = schema.required ?? Object.keys(schema.properties)
    return Object.fromEntries(
      names.map((name) => [name, exampleOf(schema.properties![name] ?? {}, document, depth + 1)]),
    )
  }
  if (schema.type === 'array') return schema.items ? [exampleOf(schema.items, document, depth + 1)] : []
  return schema.type === 'integer' ? 0 : schema.type === 'boolean' ? false : ''
}

/** The request that a filled-in form describes. */
export function toRequest(operation: Operation, written: Readonly<Record<string, string>>, body: string): ApiRequest {
  const query = new URLSearchParams()
  let { path } = operation
  for (const parameter of operation.parameters) {
    const value = written[parameter.name] ?? ''
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, () => encodeURIComponent(value))
    else if (value !== '') query.set(parameter.name, value)
  }
  const text = query.toString()
  return { path: text === '' ? path : `${path}?${text}`, body: operation.method === 'POST' ? body : undefined }
}
