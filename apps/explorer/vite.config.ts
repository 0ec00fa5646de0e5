import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** Writes a brotli form of each text file, which a node sends as it is. */
function precompressed(): Plugin {
  return {
    name: 'precompressed',
    // This hook runs after all plugins that change files.
    writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle)) {
        const file = join(dir!, name)
        const options = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
        writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), options))
      }
    },
  }
}

export default defineConfig({
  plugins: [precompressed()],
  // From the sources of the packages: a first start need not build them.
  resolve: { conditions: ['@ledger-state/source', ...defaultClientConditions] },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: ['index.html', 'operators.html'] },
  },
  // The worker is a module. It shares nothing with the page, and loads as the page does.
  worker: { format: 'es' },
  server: { proxy: { '/v1': process.env.NODE_URL ?? 'http://127.0.0.1:8080' } },
})
