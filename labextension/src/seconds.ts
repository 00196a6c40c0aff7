import React from 'react';

/** The time of a clock, read every second while that matters. */
export function useSeconds(isNeeded: boolean, clock: () => number = Date.now): number {
  const [now, setNow] = React.useState(clock);
  const read = React.useRef(clock);
  read.current = clock;
  React.useEffect(() => {
    if (!isNeeded) {
      return;
    }
    setNow(read.current());
    const timer = window.setInterval(() => setNow(read.current()), 1000);
    return () => window.clearInterval(timer);
  }, [isNeeded]);
  return now;
}
