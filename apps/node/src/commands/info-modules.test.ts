import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const processes = fileURLToPath(new URL('../../dist/processes', import.meta.url))

/** The built files that a file loads when it starts, and the packages that they import. */
function loadedBy(name: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set([name])
  const packages = new Set<string>()
  for (const file of files) {
    const text = readFileSync(join(processes, file), 'utf8')
    for (const [, from] of text.matchAll(/^(?:import|export|\}).*?["']([^"'\n]+)["'];$/gm)) {
      if (from!.startsWith('./')) files.add(basename(from!))
      else packages.add(from!)
    }
  }
  return { files, packages }
}

it('the command `info` loads neither the virtual machine nor the curves of its natives, which other commands use', () => {
  const [info] = readdirSync(processes).filter((name) => /^info-.*\.js$/.test(name))
  const { files, packages } = loadedBy(info!)
  expect([...packages]).toContain('lmdb')
  expect([...packages]).not.toContain('@noble/curves/ed25519.js')
  const text = [...files].map((file) => readFileSync(join(processes, file), 'utf8')).join('\n')
  expect(text).toContain('packages/state-engine/src/')
  expect(text).not.toContain('packages/move-vm/src/run/machine.ts')
})
