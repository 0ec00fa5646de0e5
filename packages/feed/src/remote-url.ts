// Apart from the sources, which a program that only reads its settings need not load.
export { toRemoteUrl } from './requests/remote-url.js'
