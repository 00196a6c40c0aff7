/**
 * What a person without a mouse or without eyes would stumble over, found in the page itself. It stands in for a
 * checker such as axe where that is not installed: names, references, ids, and the order of the Tab key.
 */

/** Sentences about what is wrong below `root`, an element of the page; empty when nothing is. */
export function stumblingBlocks(root) {
  return root.evaluate(top => {
    const name = node =>
      node.getAttribute('aria-label') ||
      (node.getAttribute('aria-labelledby') ?? '')
        .split(' ')
        .map(id => document.getElementById(id)?.textContent ?? '')
        .join('') ||
      [...(node.labels ?? [])].map(label => label.textContent).join('') ||
      node.textContent.trim() ||
      node.getAttribute('title');
    const say = node => node.outerHTML.slice(0, 160);
    const all = [...top.querySelectorAll('*')];
    const nameless = all
      .filter(node =>
        node.matches(
          'button, a[href], input, select, [role=tab], [role=log], [role=listbox], [role=option], [role=meter], [role=toolbar], [role=tablist], section'
        )
      )
      .filter(node => !name(node))
      .map(node => `has no name: ${say(node)}`);
    const ids = all.map(node => node.id).filter(Boolean);
    const doubled = ids.filter((id, place) => ids.indexOf(id) !== place).map(id => `is there twice: ${id}`);
    const dangling = all.flatMap(node =>
      ['aria-controls', 'aria-labelledby', 'aria-activedescendant']
        .map(attribute => node.getAttribute(attribute))
        .filter(id => id && !id.split(' ').every(one => document.getElementById(one)))
        .map(id => `names what is not there: ${id} in ${say(node)}`)
    );
    const forward = all.filter(node => node.tabIndex > 0).map(node => `jumps the queue of the Tab key: ${say(node)}`);
    const headless = [...top.querySelectorAll('table')]
      .filter(table => !table.querySelector('th[scope]'))
      .map(table => `is a table without heads: ${say(table)}`);
    const clicked = all
      // The options of a list are chosen by the list's own keys.
      .filter(node => node.tagName === 'DIV' && node.onclick && node.getAttribute('role') !== 'option')
      .map(node => `is clicked and not reached by keys: ${say(node)}`);
    return [...nameless, ...doubled, ...dangling, ...forward, ...headless, ...clicked];
  });
}
