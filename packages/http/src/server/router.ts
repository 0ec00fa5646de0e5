import { invalidPathEncoding, methodNotAllowed, routeNotFound } from '../errors.js'
import type { Route } from '../operations/operation.js'
import { percentDecoded } from '../protocol/query.js'

export interface FoundRoute {
  readonly route: Route
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>
}

/** A path with the routes that it has, one for each method. */
interface Path {
  readonly segments: readonly string[]
  /** By segment: the name of the parameter that it is, undefined where it is text. */
  readonly names: readonly (string | undefined)[]
  readonly routes: Map<string, Route>
}

/** The route of a method and the target of a request line. */
export interface Router {
  /** @throws `route_not_found`, `method_not_allowed`, `invalid_request` where the path is not well percent-encoded */
  find(method: string, target: string): FoundRoute
}

/** Routes by their paths; `aliases` are further paths, each with a path whose routes it has. HEAD goes where GET does. */
export function createRouter(routes: readonly Route[], aliases: Readonly<Record<string, string>>): Router {
  const bySegments: (Path[] | undefined)[] = []
  for (const route of routes) {
    addRoute(route.path, route)
    for (const [alias, path] of Object.entries(aliases)) if (path === route.path) addRoute(alias, route)
  }

  function addRoute(path: string, route: Route): void {
    const segments = path.split('/')
    bySegments[segments.length] ??= []
    const paths = bySegments[segments.length]!
    let known = paths.find((one) => one.segments.join('/') === path)
    if (!known) {
      const names = segments.map((segment) => /^\{(.*)\}$/.exec(segment)?.[1])
      known = { segments, names, routes: new Map() }
      paths.push(known)
    }
    known.routes.set(route.method, route)
    if (route.method === 'GET') known.routes.set('HEAD', route)
  }

  return {
    find(method, target) {
      const asked = segmentsOf(target, bySegments.length)
      for (const path of bySegments[asked.length] ?? []) {
        if (!matches(path, asked)) continue
        const route = path.routes.get(method)
        if (!route) throw methodNotAllowed([...path.routes.keys()].join(', '))
        return { route, params: paramsOf(path, asked) }
      }
      throw routeNotFound()
    },
  }
}

function matches({ segments, names }: Path, asked: readonly string[]): boolean {
  for (let at = 0; at < segments.length; at++) {
    if (names[at] === undefined && segments[at] !== asked[at]) return false
  }
  return true
}

function paramsOf({ names }: Path, asked: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (let at = 0; at < names.length; at++) {
    const name = names[at]
    if (name !== undefined) params[name] = asked[at]!
  }
  return params
}

/** The decoded segments of the path, at most so many; the first is empty. */
function segmentsOf(target: string, most: number): string[] {
  const queryAt = target.indexOf('?')
  let path = queryAt < 0 ? target : target.slice(0, queryAt)
  if (path.charCodeAt(0) !== 0x2f) path = pathOfAbsoluteForm(path)
  const segments = path.split('/', most)
  if (!path.includes('%')) return segments
  return segments.map((segment) => {
    const decoded = percentDecoded(segment)
    if (decoded === undefined) throw invalidPathEncoding()
    return decoded
  })
}

/** `http://host/path` is a target that every server takes (RFC 9112, 3.2.2). */
function pathOfAbsoluteForm(target: string): string {
  const authorityAt = target.indexOf('://')
  const pathAt = authorityAt < 0 ? -1 : target.indexOf('/', authorityAt + 3)
  return pathAt < 0 ? '' : target.slice(pathAt)
}
