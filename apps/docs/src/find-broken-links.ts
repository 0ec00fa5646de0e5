import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * Links and pictures of a site's pages whose target is not a file of the site, or not a place in the page; a line for
 * each.
 */
export function findBrokenLinks(site: string): string[] {
  const pages = globSync('**/*.html', { cwd: site })
  const anchors = new Map(pages.map((page) => [page, anchorsOf(readFileSync(join(site, page), 'utf8'))]))
  return pages.flatMap((page) => {
    const html = readFileSync(join(site, page), 'utf8').replaceAll(/<script.*?<\/script>/gs, '')
    const targets = new Set([...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target]) => target!))
    return [...targets]
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !leadsSomewhere(site, page, target, anchors))
      .map((target) => `${page}: ${target} leads nowhere`)
  })
}

function leadsSomewhere(
  site: string,
  page: string,
  target: string,
  anchors: ReadonlyMap<string, Set<string>>,
): boolean {
  const [path, anchor] = decodeURIComponent(target.replaceAll('&amp;', '&')).split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path!))
  if (!existsSync(join(site, file)) || !statSync(join(site, file)).isFile()) return false
  return !anchor || !anchors.has(file) || anchors.get(file)!.has(anchor)
}

function anchorsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/ (?:id|name)="([^"]*)"/g)].map(([, id]) => id!))
}
