import { type OpenApiDocument, operationsOf } from '../src/api/open-api.ts'

/** Paths of documents, which describe the operations. */
const DOCUMENTS = /^\/spec(?:\.json|\.yaml)?$/

/**
 * The query parameters of a request that its operation does not declare. A node ignores them, or refuses them if they
 * look like a mistake.
 * @param path path below `/v1`, with its query
 */
export function undeclaredParameters(document: OpenApiDocument, method: string, path: string): readonly string[] {
  const [place = '', query] = path.split('?', 2)
  if (DOCUMENTS.test(place)) return []
  const operation = operationsOf(document).find(
    (one) => one.method === method && toPattern(one.path).test(place || '/'),
  )
  if (!operation) return [`no operation ${method} ${place}`]
  const { parameters } = operation
  const isDeclared = (one: string): boolean =>
    parameters.some(({ name, in: where, isObject }) => where === 'query' && (isObject || name === one))
  const names = [...new URLSearchParams(query).keys()]
  return names.filter((name, at) => !isDeclared(name) || names.indexOf(name) !== at)
}

function toPattern(path: string): RegExp {
  const parts = path.split(/\{[^}]+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
