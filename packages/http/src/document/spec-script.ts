/**
 * The script of the page: examples ask the service that the page is from, and each has a button that copies its line. It
 * is text, because it runs in browsers and is served as it stands.
 */
export const SPEC_SCRIPT = `
const origin = location.href.replace(/\\/v1\\/spec.*$/, '')
for (const element of document.querySelectorAll('.origin')) element.textContent = origin

for (const example of document.querySelectorAll('.example')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    getSelection().selectAllChildren(example)
    // Browsers have the clipboard only on pages that they trust: HTTPS, or from the same machine.
    if (navigator.clipboard) await navigator.clipboard.writeText(example.textContent)
    else document.execCommand('copy')
    button.textContent = 'Copied'
  })
  example.after(button)
}
`
