* Two hours of power: as cheaply as possible, and of all cheapest plans the one that emits least (the second row of type N).
*   tiebreak solve dispatch.mps --then co2 --then "[ coal[1]^2 + coal[2]^2 ] / 2"
* then also spreads the coal, which without that may fall on either hour.
NAME  dispatch
ROWS
 N  cost
 N  co2
 E  demand[1]
 E  demand[2]
 L  contract
COLUMNS
 wind[1]  demand[1]  1
 wind[2]  demand[2]  1
 coal[1]  cost  30  co2  0.9
 coal[1]  demand[1]  1
 coal[2]  cost  30  co2  0.9
 coal[2]  demand[2]  1
 gas[1]  cost  30  co2  0.4
 gas[1]  demand[1]  1  contract  1
 gas[2]  cost  30  co2  0.4
 gas[2]  demand[2]  1  contract  1
RHS
 RHS  demand[1]  10  demand[2]  14
 RHS  contract  9
BOUNDS
 UP BND  wind[1]  4
 UP BND  wind[2]  6
 UP BND  coal[1]  10
 UP BND  coal[2]  10
 UP BND  gas[1]  10
 UP BND  gas[2]  10
ENDATA
