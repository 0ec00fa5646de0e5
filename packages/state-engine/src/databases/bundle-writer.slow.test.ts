import './bundle-writer.test.js'
