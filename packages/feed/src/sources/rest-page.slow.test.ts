import './rest-page.test.js'
