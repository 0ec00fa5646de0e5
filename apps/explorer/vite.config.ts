import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Beside each file of text its form in brotli, which a node sends as it is. */
function precompressed(): Plugin {
  return {
    name: 'precompressed',
    enforce: 'post',
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle)) {
        const source = output.type === 'chunk' ? output.code : output.source
        const packed = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
        this.emitFile({ type: 'asset', fileName: `${output.fileName}.br`, source: packed })
      }
    },
  }
}

export default defineConfig({
  plugins: [precompressed()],
  // The readers of bytes are those of the node; a browser has no `node:buffer`.
  resolve: { alias: { 'node:buffer': fileURLToPath(new URL('src/move/node-buffer.ts', import.meta.url)) } },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: ['index.html', 'operators.html'] },
  },
  server: { proxy: { '/v1': process.env.NODE_URL ?? 'http://127.0.0.1:8080' } },
})
