// What the pages do by themselves: refresh when something is new, search while typing, keys. The pages also work without it.
'use strict';
(() => {
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const status = $('#status');
  const say = (word, state) => { if (status) { status.className = 'status ' + state; $('.word', status).textContent = word; } };

  const parsed = async (address, signal) => {
    const answer = await fetch(address, { signal, headers: { Accept: 'text/html' } });
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  };

  // Replaces the content of a part, and keeps what the reader has opened and focused.
  const replace = (old, fresh) => {
    if (!old || !fresh || old.innerHTML === fresh.innerHTML) return false;
    const open = $$('details', old).map((one) => one.open);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const key = focused && (focused.getAttribute('href') || focused.id);
    old.replaceChildren(...document.importNode(fresh, true).childNodes);
    const details = $$('details', old);
    if (details.length === open.length) details.forEach((one, at) => { one.open = open[at]; });
    if (key) $$('a', old).find((one) => one.getAttribute('href') === key)?.focus({ preventScroll: true });
    dress(old);
    return true;
  };

  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const address = location.href;
      const fresh = await parsed(address);
      // A search finished meanwhile and changed the address, so this answer is outdated.
      if (address !== location.href) again = true;
      else for (const part of $$('[data-live]')) {
        // A list that has grown by scrolling is not replaced, so that the text under the reader's eyes does not jump.
        if (!part.dataset.longer) replace(part, fresh.getElementById(part.id));
      }
      const soon = fresh.querySelector('[data-soon]');
      if (soon) setTimeout(refresh, 900);
    } catch { /* the dashboard has stopped; the status line shows that */ }
    busy = false;
    if (again) { again = false; setTimeout(refresh, 250); }
  };

  // Live updates while the page is visible.
  let source = null;
  const watch = () => {
    if (document.hidden) { source?.close(); source = null; return; }
    if (source) return;
    source = new EventSource('/pulse');
    source.onopen = () => say('live', 'live');
    source.onerror = () => say('not connected', '');
    source.addEventListener('new', () => {
      say('live', 'live');
      requestAnimationFrame(() => status?.classList.add('fresh'));
      refresh();
    });
  };
  document.addEventListener('visibilitychange', () => { watch(); if (!document.hidden) refresh(); });

  // Search while typing: the address follows, so that it can be shared and reloaded.
  const filter = (form) => {
    let waiting = 0, running = null;
    const ask = async () => {
      running?.abort();
      running = new AbortController();
      const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
      const address = form.action.split('?')[0] + (asked.size ? '?' + asked : '');
      try {
        const fresh = await parsed(address, running.signal);
        const part = document.getElementById(form.dataset.filter);
        delete part.dataset.longer;
        // An error page has no such part: its text is shown instead.
        replace(part, fresh.getElementById(form.dataset.filter) || fresh.getElementById('main'));
        history.replaceState(null, '', address);
      } catch { /* a newer search has replaced this one */ }
    };
    form.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(ask, 160); });
    form.addEventListener('submit', (event) => { event.preventDefault(); clearTimeout(waiting); ask(); });
  };

  // Long lists load more as they are scrolled.
  const more = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) { more.unobserve(target); longer(target); }
  }, { rootMargin: '600px' });
  const longer = async (link) => {
    const pager = link.closest('nav'), list = $('[data-more]', pager.parentElement);
    const part = link.closest('[data-live]');
    try {
      const fresh = await parsed(link.href);
      const rest = part ? fresh.getElementById(part.id) : fresh;
      const rows = $('[data-more]', rest);
      // If the link is gone, its list was replaced meanwhile.
      if (!list || !rows || !link.isConnected) return;
      if (part) part.dataset.longer = '1';
      list.append(...document.importNode(rows, true).children);
      const next = $('nav.pager a[rel=next]', rest);
      link.remove();
      if (next) { pager.append(document.importNode(next, true)); dress(pager); }
    } catch { /* the link is still there */ }
  };

  // What JavaScript adds to a part of a page.
  const dress = (part) => {
    $$('[data-copy]', part).forEach((button) => {
      button.hidden = false;
      button.onclick = async () => {
        await navigator.clipboard.writeText($('pre', button.parentElement).textContent);
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 1500);
      };
    });
    const next = $('nav.pager a[rel=next]', part);
    if (next && $('[data-more]', next.closest('nav').parentElement)) more.observe(next);
  };

  // Keys.
  const rows = () => $$('[data-rows] > li').filter((row) => $('a', row));
  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    const now = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.min(all.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by))];
    $('a', next).focus();
    next.scrollIntoView({ block: 'nearest' });
  };
  let goes = false;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === 'Escape' && typing) { event.target.blur(); return; }
    if (typing || $('#help').open) return;
    if (goes) {
      goes = false;
      const link = $(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    const keys = {
      g: () => { goes = true; setTimeout(() => { goes = false; }, 1200); },
      j: () => move(1),
      k: () => move(-1),
      '/': () => { const search = $('#search') || $('.filters input'); search ? search.focus() : location.assign('/calls'); },
      '?': () => $('#help').showModal(),
      ']': () => $('nav.pager a[rel=next]')?.click(),
      '[': () => $('nav.pager a[rel=prev]')?.click(),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });

  const keys = $('#keys');
  if (keys) { keys.hidden = false; keys.onclick = () => $('#help').showModal(); }
  $$('form[data-filter]').forEach((form) => { filter(form); const button = $('button', form); if (button) button.hidden = true; });
  dress(document);
  watch();
  if ($('[data-soon]')) setTimeout(refresh, 900);
})();
