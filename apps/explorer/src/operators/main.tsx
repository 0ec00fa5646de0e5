import { render } from 'preact'
import '../styles.css'
import { OperatorsPage } from './operators-page.tsx'

render(<OperatorsPage />, document.getElementById('page')!)
