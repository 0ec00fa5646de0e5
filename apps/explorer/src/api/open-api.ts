import type { ApiRequest } from './client.ts'

/** The parts of an OpenAPI document from which forms are made. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly description: string
    readonly required: boolean
    readonly schema: { readonly type?: string }
    readonly example?: string | number | boolean
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
}

/** Bodies by their media type. */
type Content = Readonly<Record<string, { readonly example?: unknown }>>

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
    /** Whether its value is query parameters with names of their own, such as `field.a=1&field.b=2`. */
    readonly isObject: boolean
  }[]
  /** Whether its answers are bytes, with no form in JSON. */
  readonly answersBytes: boolean
  /** Initial content of a form: values of parameters by name, and a body, empty if the operation has none. */
  readonly example: { readonly parameters: Readonly<Record<string, string>>; readonly body: string }
}

const JSON_TYPE = 'application/json'
const BCS_TYPE = 'application/x-bcs'

export function operationsOf({ paths }: OpenApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => toOperation(method, path, one)),
  )
}

function toOperation(method: string, path: string, one: OpenApiOperation): Operation {
  const { operationId, tags, summary, description, parameters, requestBody, responses } = one
  const body = requestBody?.content[JSON_TYPE]?.example
  return {
    id: operationId,
    method: method === 'post' ? 'POST' : 'GET',
    path,
    tag: tags[0]!,
    summary,
    description,
    parameters: parameters.flatMap(({ name, in: place, description, required, schema }) =>
      place === 'header'
        ? []
        : [{ name, in: place, description, isRequired: required, isObject: schema.type === 'object' }],
    ),
    answersBytes: BCS_TYPE in responses['200']!.content && !(JSON_TYPE in responses['200']!.content),
    example: {
      parameters: Object.fromEntries(
        parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, String(example)]])),
      ),
      body: body === undefined ? '' : JSON.stringify(body, undefined, 2),
    },
  }
}

/** The request that a filled-in form describes. */
export function toRequest(operation: Operation, written: Readonly<Record<string, string>>, body: string): ApiRequest {
  const query = new URLSearchParams()
  let { path } = operation
  for (const parameter of operation.parameters) {
    const value = written[parameter.name] ?? ''
    if (parameter.in === 'path')
      path = path.replace(`{${parameter.name}}`, () => encodeURIComponent(value).replaceAll('%3A', ':'))
    else if (parameter.isObject) for (const [name, part] of new URLSearchParams(value)) query.append(name, part)
    else if (value !== '') query.set(parameter.name, value)
  }
  const text = query.toString()
  return { path: text === '' ? path : `${path}?${text}`, body: operation.method === 'POST' ? body : undefined }
}
