import { render } from 'preact'
import { App } from './app.tsx'
import { followLedger } from './state/ledger.ts'
import { onLinkClick } from './state/location.ts'
import { applyTheme } from './state/theme.ts'
import './styles.css'

document.addEventListener('click', onLinkClick)
applyTheme()
followLedger()
render(<App />, document.getElementById('page')!)
