// jsdom has no drag and drop; lumino derives a class from its event when it is loaded.
globalThis.DragEvent = class DragEvent extends MouseEvent {};
// Lets React's act() know that a test drives it.
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
// jsdom has no media queries; JupyterLab's components ask one when they are loaded.
window.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {} });
// jsdom is never idle by its own account; JupyterLab's React widgets draw when the page is.
window.requestIdleCallback = callback => setTimeout(callback, 0);
// jsdom has neither of these two, which every browser has.
Object.assign(globalThis, { TextEncoder: require('util').TextEncoder, TextDecoder: require('util').TextDecoder });
// jsdom has no clipboard; JupyterLab's warns of that when it is loaded.
Object.defineProperty(navigator, 'clipboard', { value: { writeText: async () => {} } });
